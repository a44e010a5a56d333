import { expect, test } from 'vitest';
import { postgresSchema, TEST_POSTGRES_URI } from '../../support/databases.ts';
import { roundRobin } from '../../support/round-robin.ts';
import { startServer } from '../../support/server.ts';
import { EVERY_CLIENT } from './every-client.ts';
import { GRAPHS_OF_STORY, tellStory } from './story.ts';

test.runIf(TEST_POSTGRES_URI)(
  'two servers on one database are one to every client, whichever of them a request meets',
  async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    const graphs = Object.fromEntries(
      GRAPHS_OF_STORY.map((name) => [name, `test/fixtures/graphs/${name}.ts:graph`]),
    );
    const env = { DATABASE_URI: schema.url };
    // The first one makes the tables.
    await using one = await startServer({ graphs, env });
    await using two = await startServer({ graphs, env });
    await using proxy = await roundRobin(one.url, two.url);
    for (const { client } of [one, two]) await client.assistants.getSchemas('chat');
    const { url } = proxy;
    await Promise.all(EVERY_CLIENT.map(([, connect]) => tellStory({ url, cancels: false }, connect)));
    expect(Math.min(...proxy.shares)).toBeGreaterThan(10);
  },
  60_000,
);
