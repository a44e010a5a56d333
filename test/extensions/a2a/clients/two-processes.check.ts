import { expect, test } from 'vitest';
import { twoServers } from '../../../clients/two-servers.ts';
import { askingForTokens, nextOf, taskEvents, textOf, tokensOf } from '../../../support/a2a-events.ts';
import { TEST_POSTGRES_URI } from '../../../support/databases.ts';
import { httpClient } from '../../../support/http-client.ts';
import { EVERY_CLIENT } from './every-client.ts';
import { GRAPHS_OF_STORY, tellStory } from './story.ts';

test.runIf(TEST_POSTGRES_URI)(
  'every client can send each request to either of two servers on one database',
  async () => {
    await using servers = await twoServers(TEST_POSTGRES_URI as string, GRAPHS_OF_STORY);
    const { one, two, proxy } = servers;
    await Promise.all(EVERY_CLIENT.map(([, connect]) => tellStory(proxy.url, connect)));
    expect(Math.min(...proxy.shares)).toBeGreaterThan(10);
    await readOn(one.url, two.url);
  },
);

/** A stream that began at one server goes on at the other, after each of its first events. */
async function readOn(one: string, two: string): Promise<void> {
  using here = httpClient(one);
  using there = httpClient(two);
  const params = askingForTokens(40, 40);
  const begun = await taskEvents(here, 'tokens', { method: 'SendStreamingMessage', params });
  const read = await nextOf(begun, 6);
  await begun.return(undefined);
  const id = read[0]?.value.id;
  const rests = read.map(async ({ id: last_id }) =>
    Array.fromAsync(
      await taskEvents(there, 'tokens', { method: 'SubscribeToTask', params: { id }, last_id }),
    ),
  );
  const whole = (await Promise.all(rests)).map((rest, i) => textOf([...read.slice(0, i + 1), ...rest]));
  expect(whole).toEqual(read.map(() => tokensOf(40)));
}
