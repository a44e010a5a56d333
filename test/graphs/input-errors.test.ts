import { END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { asInputError } from '../../src/graphs/public-errors.ts';
import { naming } from '../support/naming.ts';

const graphOf = (State: object, node: () => object) =>
  new StateGraph(State as typeof Fields).addNode('a', node).addEdge(START, 'a').addEdge('a', END).compile();
const Fields = new StateSchema({ text: z.string() });

async function thrownBy(graph: ReturnType<typeof graphOf>, input: object): Promise<unknown> {
  return await graph.invoke(input as never).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.each([
  ['a zod object', z.object({ text: z.string() })],
  ['a StateSchema', Fields],
])('an input error of %s names the fields and keeps the error of LangGraph', async (_, State) => {
  const thrown = await thrownBy(
    graphOf(State, () => ({})),
    { text: 5 },
  );

  expect(asInputError(thrown)).toMatchObject({
    name: 'InvalidInput',
    message: naming('text: '),
    cause: thrown,
  });
});

test('an error thrown by a node is unchanged, even an error of zod', async () => {
  const thrown = await thrownBy(
    graphOf(Fields, () => ({ text: z.string().parse(1) })),
    { text: 'x' },
  );

  expect(thrown).toBeInstanceOf(z.ZodError);
  expect(asInputError(thrown)).toBe(thrown);
  expect(asInputError('text')).toBe('text');
});
