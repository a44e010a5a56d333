/** What of a JSON schema says how to fill it. */
interface Shape {
  readonly type?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
}

const TEXT = 'Hello!';

/** An input to try a graph with, by the schema of its input: a message or a text where there is room for one. */
export function exampleInput(schema: unknown): Record<string, unknown> {
  const { properties = {} } = (schema ?? {}) as Shape;
  if ('messages' in properties || Object.keys(properties).length === 0) {
    return { messages: [{ role: 'user', content: TEXT }] };
  }
  const texts = Object.entries(properties).filter(([, { type }]) => type === 'string');
  return Object.fromEntries(texts.map(([name]) => [name, TEXT]));
}
