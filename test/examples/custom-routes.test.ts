import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { project } from '../support/project.ts';
import { blocksOf } from './blocks.ts';

const CHAT = resolve(import.meta.dirname, '../fixtures/graphs/chat.ts');

test('docs/custom-routes.md', async () => {
  const [config, app] = blocksOf('docs/custom-routes.md').map(({ text }) => text);
  await using folder = await project({
    'agent.config.yaml': config?.replace('./chat.ts', CHAT) ?? '',
    'app.ts': app ?? '',
  });
  await using server = await openApp({ graphs: ['chat'], folder: folder.root });

  const { status, headers, body } = await server.get('/greetings/Ada');
  expect([status, headers['x-served-by']]).toEqual([200, 'me']);
  expect(body.messages[0].content).toBe('I am Ada.');
});
