import { postgresSchema } from '../support/databases.ts';
import { type RoundRobin, roundRobin } from '../support/round-robin.ts';
import { startServer, type TestServer } from '../support/server.ts';

export interface TwoServers extends AsyncDisposable {
  readonly one: TestServer;
  readonly two: TestServer;
  /** Requests go to each in turn. */
  readonly proxy: RoundRobin;
}

/** Two servers with these graphs of the fixtures on one PostgreSQL database, behind a proxy. */
export async function twoServers(postgres_url: string, graph_names: readonly string[]): Promise<TwoServers> {
  await using stack = new AsyncDisposableStack();
  const schema = stack.use(await postgresSchema(postgres_url));
  const graphs = Object.fromEntries(
    graph_names.map((name) => [name, `test/fixtures/graphs/${name}.ts:graph`]),
  );
  const env = { DATABASE_URI: schema.url };
  // The first one makes the tables.
  const one = stack.use(await startServer({ graphs, env }));
  const two = stack.use(await startServer({ graphs, env }));
  const proxy = stack.use(await roundRobin(one.url, two.url));
  const opened = stack.move();
  return { one, two, proxy, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
