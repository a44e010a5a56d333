import type { Compiler, TypeScript } from '../project/compiler.ts';

/** The draft that LangGraph and the official server declare. */
export const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** A JSON Schema. */
export type Schema = Record<string, unknown>;

/** Accepts both LangChain's `type` and OpenAI's `role`. */
export const MESSAGE_SCHEMA = {
  type: 'object',
  description: 'A chat message as it is sent and read.',
  properties: {
    type: { type: 'string', description: 'Who speaks: human, ai, system, tool, …' },
    role: { type: 'string', description: 'Instead of `type`: user, assistant, system, tool.' },
    content: {
      anyOf: [
        { type: 'string' },
        { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'object' }] } },
      ],
      description: 'Text, or blocks such as text and images.',
    },
    id: { type: ['string', 'null'], description: 'A message with the id of an earlier one replaces it.' },
    name: { type: ['string', 'null'] },
    tool_calls: { type: 'array', items: { type: 'object' } },
    tool_call_id: { type: 'string' },
    additional_kwargs: { type: 'object' },
    response_metadata: { type: 'object' },
  },
  required: ['content'],
};

/** LangGraph's own marker of a list of messages, which user interfaces take as the sign of a chat. */
export const MESSAGES_MARKER = { langgraph_type: 'messages' };

export const MESSAGES_SCHEMA = { type: 'array', items: MESSAGE_SCHEMA, ...MESSAGES_MARKER };

const BASE = 'BaseMessage';

/**
 * LangChain's messages among types. Their classes differ from the wire format, so that a message is described as on the
 * wire; the abstract class becomes `oneOf` its direct subclasses, as in the official server.
 */
export function messageTypes(ts: Compiler, program: TypeScript.Program) {
  const checker = program.getTypeChecker();

  function isMessage(type: TypeScript.Type): boolean {
    const symbol = type.getSymbol();
    if (!symbol || !(symbol.flags & ts.SymbolFlags.Class)) return false;
    return symbol.name === BASE || basesOf(type).some(isMessage);
  }

  function basesOf(type: TypeScript.Type): TypeScript.Type[] {
    const declared = (type as Partial<TypeScript.TypeReference>).target ?? type;
    return declared.isClass() ? checker.getBaseTypes(declared) : [];
  }

  /** Message type of a list of messages, also within the union that a reducer accepts. */
  function messageItemOf(type: TypeScript.Type): TypeScript.Type | undefined {
    const parts = unionMembers(type);
    const lists = parts.filter((part) => checker.isArrayType(part));
    if (lists.length === 0) return undefined;
    const items = lists.flatMap((list) => checker.getTypeArguments(list as TypeScript.TypeReference));
    const messages = items.flatMap(unionMembers).filter(isMessage);
    return messages.find((message) => message.getSymbol()?.name === BASE) ?? messages[0];
  }

  function describe(type: TypeScript.Type, refer: (subclass: TypeScript.Type) => Schema): Schema {
    const subclasses = type.getSymbol()?.name === BASE ? subclassesOf(type) : [];
    if (subclasses.length === 0) return MESSAGE_SCHEMA;
    const description = ts.displayPartsToString(type.getSymbol()?.getDocumentationComment(checker));
    return { ...(description && { description }), oneOf: subclasses.map(refer) };
  }

  /** Direct subclasses of the given class, with the very same type arguments. */
  function subclassesOf(base: TypeScript.Type): TypeScript.Type[] {
    return program
      .getSourceFiles()
      .flatMap(({ statements }) => statements.filter(ts.isClassDeclaration))
      .filter((declaration) =>
        declaration.heritageClauses?.some(({ types }) => types[0]?.expression.getText() === BASE),
      )
      .map((declaration) => checker.getTypeAtLocation(declaration))
      .filter((type) => type.isClass() && checker.getBaseTypes(type).includes(base as TypeScript.BaseType));
  }

  return { isMessage, messageItemOf, describe };
}

export function unionMembers(type: TypeScript.Type): readonly TypeScript.Type[] {
  return type.isUnion() ? type.types : [type];
}
