import { expect, test } from 'vitest';
import { twoServers } from '../../../clients/two-servers.ts';
import { TEST_POSTGRES_URI } from '../../../support/databases.ts';
import { EVERY_CLIENT } from './every-client.ts';
import { GRAPHS_OF_STORY, tellStory } from './story.ts';

test.runIf(TEST_POSTGRES_URI)(
  'every client can send each request to either of two servers on one database',
  async () => {
    await using servers = await twoServers(TEST_POSTGRES_URI as string, GRAPHS_OF_STORY);
    const { one, two, proxy } = servers;
    for (const { client } of [one, two]) await client.assistants.getSchemas('chat');
    const { url } = proxy;
    await Promise.all(EVERY_CLIENT.map(([, connect]) => tellStory({ url, cancels: false }, connect)));
    expect(Math.min(...proxy.shares)).toBeGreaterThan(10);
  },
);
