import type { Compiler, TypeScript } from '../project/compiler.ts';
import { findSubgraphs, type GraphTypes, graphTypes } from './graph-types.ts';
import type { Schema } from './message-schema.ts';
import { TypeDescriber } from './type-describer.ts';

/** Schemas from the types of one graph; `undefined` where the types declare none. */
export interface TypeSchemas {
  readonly input?: Schema | undefined;
  readonly output?: Schema | undefined;
  readonly state?: Schema | undefined;
  readonly context?: Schema | undefined;
}

/** Schemas of a graph under `''`, and of its subgraphs by namespace. */
export type TypeSchemasByNamespace = Readonly<Record<string, TypeSchemas>>;

/** Throws if the file has no such export, or if it is not a graph. `name` is empty for the default export. */
export function extractSchemas(
  ts: Compiler,
  program: TypeScript.Program,
  file: string,
  name: string,
): TypeSchemasByNamespace {
  const checker = program.getTypeChecker();
  const graphs = graphTypes(ts, checker);
  const describer = new TypeDescriber(ts, program);
  const exported = exportOf(ts, program, file, name === '' ? 'default' : name);
  const graph = graphs.compiled(checker.getTypeOfSymbol(exported));
  if (!graph) throw new Error(`the type of '${name || 'default'}' is not that of a graph`);
  const declaration = exported.declarations?.[0];
  const subgraphs = declaration ? findSubgraphs(ts, checker, graphs, declaration) : [];
  return {
    ...Object.fromEntries(
      subgraphs.map(({ namespace, type }) => [namespace, schemasOf(type, { graphs, checker, describer })]),
    ),
    '': schemasOf(graph, { graphs, checker, describer }),
  };
}

function exportOf(ts: Compiler, program: TypeScript.Program, file: string, name: string): TypeScript.Symbol {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const found = module && checker.getExportsOfModule(module).find((symbol) => symbol.name === name);
  if (!found) throw new Error(`there is no export '${name}'`);
  return found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
}

interface Tools {
  readonly graphs: GraphTypes;
  readonly checker: TypeScript.TypeChecker;
  readonly describer: TypeDescriber;
}

/** No field is required: a channel without a value is absent from the state. */
function schemasOf(graph: TypeScript.Type, { graphs, checker, describer }: Tools): TypeSchemas {
  const fields = (type: TypeScript.Type | undefined) => {
    const properties = type && checker.getPropertiesOfType(checker.getNonNullableType(type));
    if (!properties || properties.length === 0) return undefined;
    const types = properties.map((symbol) => [symbol.name, checker.getTypeOfSymbol(symbol)] as const);
    return describer.object(new Map(types), { optional: true });
  };
  const context = graphs.context(graph);
  return {
    input: fields(graphs.input(graph)),
    output: fields(graphs.output(graph)),
    state: fields(graphs.state(graph)),
    context: context && describer.object(context, { optional: false }),
  };
}
