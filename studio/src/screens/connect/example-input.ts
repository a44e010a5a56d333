/** The parts of a JSON schema that determine an example value. */
interface Shape {
  readonly type?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
}

const TEXT = 'Hello!';

/** An example input for a graph, from its input schema: a message or a text if it takes one. */
export function exampleInput(schema: unknown): Record<string, unknown> {
  const { properties = {} } = (schema ?? {}) as Shape;
  if ('messages' in properties || Object.keys(properties).length === 0) {
    return { messages: [{ role: 'user', content: TEXT }] };
  }
  const texts = Object.entries(properties).filter(([, { type }]) => type === 'string');
  return Object.fromEntries(texts.map(([name]) => [name, TEXT]));
}
