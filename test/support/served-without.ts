import { expect } from 'vitest';
import type { ServerOptions, TestServer } from './server.ts';

/** For a server that is started with changed sources. */
export const SERVES_ECHO: ServerOptions = {
  graphs: { echo: 'test/fixtures/graphs/echo.ts:graph' },
  one_process: 'its sources differ',
};

/** A client creates a thread, executes a run on it and reads its state. */
export async function expectServed({ client: { threads, runs } }: TestServer): Promise<void> {
  const { thread_id } = await threads.create();
  expect(await runs.wait(thread_id, 'echo', { input: { x: 7 } })).toMatchObject({ x: 7 });
  expect((await threads.getState(thread_id)).values).toMatchObject({ x: 7 });
}
