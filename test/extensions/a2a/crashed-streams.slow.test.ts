import { expect, test } from 'vitest';
import { askingForTokens, nextOf, type TaskEvent, taskEvents, tokensOf } from '../../support/a2a-events.ts';
import { httpClient } from '../../support/http-client.ts';
import { startServer } from '../../support/server.ts';

const GRAPHS = { tokens: 'test/fixtures/graphs/tokens.ts:graph' };

/** The texts of the artifacts that a client has after these events. */
function textsOf(events: readonly TaskEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const { kind, value } of events) {
    if (kind !== 'artifactUpdate') continue;
    const { artifactId, parts } = value.artifact;
    const before = value.append ? (texts.get(artifactId) ?? '') : '';
    texts.set(artifactId, before + parts.map(({ text }) => text ?? '').join(''));
  }
  return [...texts.values()];
}

test('a stream that continues after a crash drops the text of the lost attempt', async () => {
  await using server = await startServer({ graphs: GRAPHS });
  using http = httpClient(server.url);
  const stream = (method: string, params: object, last_id?: string) =>
    taskEvents(http, 'tokens', { method, params, last_id });
  const first = await stream('SendStreamingMessage', askingForTokens(20, 100));
  const seen = await nextOf(first, 6);

  await server.kill('SIGKILL');
  await server.restart();

  const params = { id: seen[0]?.value.id };
  const rest = await Array.fromAsync(await stream('SubscribeToTask', params, seen.at(-1)?.id));
  expect(textsOf([...seen, ...rest]).filter(Boolean)).toEqual([tokensOf(20)]);
});
