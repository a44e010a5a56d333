import { afterAll, beforeAll, test } from 'vitest';
import { openApp } from '../../../support/app.ts';
import { EVERY_CLIENT } from './every-client.ts';
import { GRAPHS_OF_STORY, tellStory } from './story.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let url: string;

beforeAll(async () => {
  server = await openApp({ graphs: GRAPHS_OF_STORY });
  ({ url } = await server.app.listen());
});

afterAll(() => server[Symbol.asyncDispose]());

test.each(EVERY_CLIENT)('%s talks, streams, answers, lists, follows and cancels', (_name, connect) =>
  tellStory(url, connect),
);
