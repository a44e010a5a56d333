import { expect } from 'vitest';
import type { Connect, ToldEvent } from './told.ts';

/** The graphs that the story goes through. */
export const GRAPHS_OF_STORY = ['chat', 'chat-question', 'tokens', 'sleeper'];

/** All that a client does with tasks, against the server at `url`. */
export async function tellStory(url: string, connect: Connect): Promise<void> {
  for (const chapter of [talk, stream, question, cancel])
    await chapter((graph) => connect(`${url}/a2a/${graph}/`));
}

async function talk(connect: Connect): Promise<void> {
  const client = await connect('chat');
  const task = await client.send({ text: 'Hi' });
  expect(task).toMatchObject({ state: 'completed', artifacts: ['You said: Hi'] });
  const more = await client.send({ text: 'Ho', context_id: task.context_id });
  expect(await client.get(task.id)).toEqual(task);
  expect([undefined, [more.id, task.id]]).toContainEqual(await client.list(task.context_id));
}

async function stream(connect: Connect): Promise<void> {
  const client = await connect('tokens');
  const events = await Array.fromAsync(client.stream({ text: 'Hi', data: { count: 4 } }));
  expect(events.map(nameOf).join(' ')).toMatch(
    /^task:submitted status:working (artifact )+status:completed$/,
  );
  const pieces = events.flatMap((event) => (event.kind === 'artifact' ? [event] : []));
  expect(pieces[0]?.append).toBe(false);
  expect(pieces.map(({ text }) => text).join('')).toBe('t0 t1 t2 t3 ');
}

async function question(connect: Connect): Promise<void> {
  const client = await connect('chat-question');
  const asked = await client.send({ text: 'Hi' });
  expect(asked).toMatchObject({ state: 'input-required', said: 'What is your name?' });
  const answer = { text: 'Ada', task_id: asked.id };
  const done = await client.send(answer);
  expect(done).toMatchObject({ id: asked.id, state: 'completed', artifacts: ['Hello, Ada.'] });
  await expect(client.send(answer)).rejects.toThrow(/has ended|not supported/);
}

async function cancel(connect: Connect): Promise<void> {
  const client = await connect('sleeper');
  const begun = await client.send({ data: { ms: 60_000 }, at_once: true });
  expect(['submitted', 'working']).toContain(begun.state);
  const followed = client.subscribe(begun.id)[Symbol.asyncIterator]();
  expect((await followed.next()).value).toMatchObject({ kind: 'task', task: { id: begun.id } });
  expect(await client.cancel(begun.id)).toMatchObject({ id: begun.id, state: 'canceled' });
  const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => followed });
  expect(rest.at(-1)).toMatchObject({ kind: 'status', state: 'canceled' });
}

function nameOf(event: ToldEvent): string {
  if (event.kind === 'task') return `task:${event.task.state}`;
  return event.kind === 'status' ? `status:${event.state}` : 'artifact';
}
