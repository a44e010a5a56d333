import type { Compiler, TypeScript } from '../project/compiler.ts';
import { DRAFT, MESSAGES_MARKER, messageTypes, type Schema, unionMembers } from './message-schema.ts';

/** Beyond these limits anything is allowed: a type may be infinite, a schema must be readable. */
const MAX_DEPTH = 12;
const MAX_DEFINITIONS = 100;

/** Converts types to JSON Schemas; named types become `definitions`, so that they may be recursive. */
export class TypeDescriber {
  readonly #ts: Compiler;
  readonly #checker: TypeScript.TypeChecker;
  readonly #messages: ReturnType<typeof messageTypes>;
  #definitions: Record<string, Schema> = {};
  #names = new Map<TypeScript.Type, string>();

  constructor(ts: Compiler, program: TypeScript.Program) {
    this.#ts = ts;
    this.#checker = program.getTypeChecker();
    this.#messages = messageTypes(ts, program);
  }

  /** An object with these fields. `optional`: none is required. */
  object(fields: ReadonlyMap<string, TypeScript.Type>, { optional }: { optional: boolean }): Schema {
    this.#definitions = {};
    this.#names = new Map();
    const properties = Object.fromEntries(
      [...fields].map(([name, type]) => [name, this.#field(type)] as const),
    );
    const needed = optional ? [] : [...fields].filter(([, type]) => !this.#mayBeUndefined(type));
    return {
      $schema: DRAFT,
      type: 'object',
      properties,
      ...(needed.length > 0 && { required: needed.map(([name]) => name) }),
      ...(Object.keys(this.#definitions).length > 0 && { definitions: this.#definitions }),
    };
  }

  /** A list of messages becomes an array, however the type declares it. */
  #field(type: TypeScript.Type): Schema {
    const message = this.#messages.messageItemOf(type);
    if (message) return { type: 'array', items: this.#message(message), ...MESSAGES_MARKER };
    return this.#describe(type, 0);
  }

  #mayBeUndefined(type: TypeScript.Type): boolean {
    return unionMembers(type).some(({ flags }) => flags & this.#ts.TypeFlags.Undefined);
  }

  #describe(type: TypeScript.Type, depth: number): Schema {
    const { TypeFlags } = this.#ts;
    const { flags } = type;
    if (depth > MAX_DEPTH) return {};
    if (type.isUnion()) return this.#union(type, depth);
    if (flags & (TypeFlags.StringLiteral | TypeFlags.NumberLiteral)) return literalEnums([type])[0] as Schema;
    if (flags & TypeFlags.BooleanLiteral)
      return { type: 'boolean', enum: [this.#checker.typeToString(type) === 'true'] };
    if (flags & TypeFlags.StringLike) return { type: 'string' };
    if (flags & TypeFlags.NumberLike) return { type: 'number' };
    if (flags & TypeFlags.BigIntLike) return { type: 'integer' };
    if (flags & TypeFlags.Null) return { type: 'null' };
    if (type.isIntersection()) {
      const simple = type.types.find((part) => !(part.flags & TypeFlags.Object));
      return simple ? this.#describe(simple, depth) : this.#members(type, depth);
    }
    return flags & TypeFlags.Object ? this.#objectType(type as TypeScript.ObjectType, depth) : {};
  }

  #union(type: TypeScript.UnionType, depth: number): Schema {
    const parts = type.types.filter((part) => !this.#isOmitted(part));
    const isLiteral = ({ flags }: TypeScript.Type) =>
      (flags & (this.#ts.TypeFlags.StringLiteral | this.#ts.TypeFlags.NumberLiteral)) !== 0;
    const literals = parts.filter(isLiteral);
    const rest = parts.filter((part) => !isLiteral(part));
    const schemas = [...literalEnums(literals), ...this.#alternatives(rest, depth)];
    const unique = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
    if (unique.length <= 1) return unique[0] ?? {};
    if (unique.some((schema) => Object.keys(schema).length === 0)) return {};
    const onlyTypes = unique.every((schema) => Object.keys(schema).join() === 'type');
    return onlyTypes ? { type: unique.map((schema) => schema['type']) } : { anyOf: unique };
  }

  /** Merges `true | false` into `boolean` again. */
  #alternatives(parts: TypeScript.Type[], depth: number): Schema[] {
    const booleans = parts.filter(({ flags }) => flags & this.#ts.TypeFlags.BooleanLiteral);
    const others = booleans.length === 2 ? parts.filter((part) => !booleans.includes(part)) : parts;
    const described = others.map((part) => this.#describe(part, depth + 1));
    return booleans.length === 2 ? [...described, { type: 'boolean' }] : described;
  }

  /** Types that are never on the wire: undefined, functions, and LangGraph's `Overwrite` around a value. */
  #isOmitted(type: TypeScript.Type): boolean {
    if (type.flags & (this.#ts.TypeFlags.Undefined | this.#ts.TypeFlags.Void)) return true;
    if (type.getProperty('__overwrite__')) return true;
    return type.getCallSignatures().length > 0;
  }

  #objectType(type: TypeScript.ObjectType, depth: number): Schema {
    const checker = this.#checker;
    const [item] = checker.isArrayLikeType(type)
      ? checker.getTypeArguments(type as TypeScript.TypeReference)
      : [];
    if (checker.isTupleType(type)) return this.#tuple(type as TypeScript.TypeReference, depth);
    if (checker.isArrayLikeType(type)) {
      return { type: 'array', ...(item && { items: this.#describe(item, depth + 1) }) };
    }
    const name = type.getSymbol()?.name;
    if (name === 'Date') return { type: 'string', format: 'date-time' };
    if (this.#messages.isMessage(type)) return this.#message(type);
    if (type.getCallSignatures().length > 0) return {};
    return this.#isNamed(type) ? this.#definition(type, depth) : this.#members(type, depth);
  }

  #tuple(type: TypeScript.TypeReference, depth: number): Schema {
    const items = this.#checker.getTypeArguments(type).map((item) => this.#describe(item, depth + 1));
    return { type: 'array', items, minItems: (type.target as TypeScript.TupleType).minLength };
  }

  #isNamed(type: TypeScript.Type): boolean {
    const { SymbolFlags } = this.#ts;
    const flags = type.getSymbol()?.flags ?? 0;
    // `Record<string, X>` is an alias too, and clearer inline.
    return (flags & (SymbolFlags.Class | SymbolFlags.Interface)) !== 0 || isProjectAlias(type);
  }

  #definition(type: TypeScript.Type, depth: number): Schema {
    return this.#reference(type, () => this.#members(type, depth));
  }

  #message(type: TypeScript.Type): Schema {
    return this.#reference(type, () => this.#messages.describe(type, (subclass) => this.#message(subclass)));
  }

  #reference(type: TypeScript.Type, describe: () => Schema): Schema {
    const known = this.#names.get(type);
    if (known) return { $ref: `#/definitions/${known}` };
    if (this.#names.size >= MAX_DEFINITIONS) return {};
    const name = this.#uniqueName(this.#checker.typeToString(type).replaceAll(' ', ''));
    this.#names.set(type, name);
    this.#definitions[name] = {};
    this.#definitions[name] = describe();
    return { $ref: `#/definitions/${name}` };
  }

  /** Two files may each declare a type of the same name. */
  #uniqueName(name: string): string {
    let free = name;
    for (let count = 2; free in this.#definitions; count += 1) free = `${name}_${count}`;
    return free;
  }

  #members(type: TypeScript.Type, depth: number): Schema {
    const { SymbolFlags } = this.#ts;
    const fields = this.#checker
      .getPropertiesOfType(type)
      .filter(({ name, flags }) => !/^(__@|#)/.test(name) && !(flags & SymbolFlags.Method))
      .map((symbol) => ({ symbol, type: this.#checker.getTypeOfSymbol(symbol) }))
      .filter((field) => !this.#isOmitted(field.type));
    const needed = fields.filter(
      ({ symbol, type: of }) => !(symbol.flags & SymbolFlags.Optional) && !this.#mayBeUndefined(of),
    );
    const index = this.#checker.getIndexInfosOfType(type)[0];
    return {
      type: 'object',
      ...(fields.length > 0 && {
        properties: Object.fromEntries(
          fields.map((field) => [
            field.symbol.name,
            { ...this.#describe(field.type, depth + 1), ...this.#description(field.symbol) },
          ]),
        ),
      }),
      ...(needed.length > 0 && { required: needed.map(({ symbol }) => symbol.name) }),
      ...(index && { additionalProperties: this.#describe(index.type, depth + 1) }),
    };
  }

  #description(symbol: TypeScript.Symbol): Schema {
    const description = this.#ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    return description ? { description } : {};
  }
}

function isProjectAlias(type: TypeScript.Type): boolean {
  const file = type.aliasSymbol?.declarations?.[0]?.getSourceFile().fileName;
  return file !== undefined && !file.includes('/node_modules/');
}

/** `'a' | 'b' | 1` → one enum of strings, one of numbers. Sorted: the compiler's own order depends on other files. */
function literalEnums(literals: readonly TypeScript.Type[]): Schema[] {
  const values = literals.map((literal) => (literal as TypeScript.LiteralType).value as string | number);
  return (['string', 'number'] as const).flatMap((type) => {
    const some = values.filter((value) => typeof value === type);
    return some.length > 0 ? [{ type, enum: some.toSorted() }] : [];
  });
}
