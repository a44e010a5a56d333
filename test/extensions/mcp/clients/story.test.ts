import { afterAll, beforeAll, test } from 'vitest';
import { openApp } from '../../../support/app.ts';
import { EVERY_CLIENT } from './every-client.ts';
import { GRAPHS_OF_STORY, tellStory } from './story.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let url: string;

beforeAll(async () => {
  server = await openApp({
    graphs: GRAPHS_OF_STORY,
    http: { mcp: { cancel_on_disconnect: true, body_limit: 1024 ** 2 } },
  });
  ({ url } = await server.app.listen());
  // Reading types takes seconds the first time, on a busy machine longer than a list of tools waits for them.
  await server.get('/assistants/chat/schemas');
});

afterAll(() => server[Symbol.asyncDispose]());

test.each(EVERY_CLIENT)('%s lists and calls tools, gets progress, answers and cancels', (_name, connect) =>
  tellStory({ url, cancels: true }, connect),
);
