import type { Compiler, TypeScript } from './compiler.ts';

/** Questions to the type checker about graphs, by the shape of LangGraph's types: its classes are the project's. */
export function graphTypes(ts: Compiler, checker: TypeScript.TypeChecker) {
  function property(type: TypeScript.Type, name: string): TypeScript.Type | undefined {
    const symbol = checker.getPropertyOfType(type, name);
    return symbol && checker.getTypeOfSymbol(symbol);
  }

  /** What a promise resolves to and a factory returns; a graph inside an agent; what a builder compiles to. */
  function compiled(given: TypeScript.Type): TypeScript.Type | undefined {
    const type = checker.getAwaitedType(given) ?? given;
    const held = property(type, 'graph');
    if (held && property(held, '~OutputType')) return held;
    if (property(type, '~OutputType')) return type;
    const makes = returned(property(type, 'compile')) ?? returned(type);
    return makes && makes !== given ? compiled(makes) : undefined;
  }

  function returned(type: TypeScript.Type | undefined): TypeScript.Type | undefined {
    const signature = type && checker.getSignaturesOfType(type, ts.SignatureKind.Call)[0];
    return signature && checker.getReturnTypeOfSignature(signature);
  }

  /** The value of each channel of the context's Annotation. Undefined when the graph has none. */
  function context(graph: TypeScript.Type): Map<string, TypeScript.Type> | undefined {
    const builder = property(graph, 'builder');
    const declared = builder && property(builder, '_configSchema');
    const definition = declared && checker.getNonNullableType(declared);
    if (!definition || checker.getIndexInfosOfType(definition).length > 0) return undefined;
    const channels = definition.getProperties().flatMap((symbol) => {
      const type = checker.getTypeOfSymbol(symbol);
      const value = property(returned(type) ?? type, 'ValueType');
      return value ? [[symbol.name, value] as const] : [];
    });
    return channels.length > 0 ? new Map(channels) : undefined;
  }

  return {
    compiled,
    context,
    input: (graph: TypeScript.Type) => property(graph, '~InputType'),
    output: (graph: TypeScript.Type) => property(graph, '~OutputType'),
    state: (graph: TypeScript.Type) => property(graph, '~RunOutput'),
  };
}

export type GraphTypes = ReturnType<typeof graphTypes>;
