import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { assistantName, assistantsQuery, mainAssistant } from '../api/assistants.ts';
import { api, dataOf, type Schemas } from '../api/client.ts';
import { controlPlane } from '../api/control-plane.ts';
import { keysQuery } from '../screens/keys/keys-query.ts';
import { namespacesQuery } from '../screens/store/store-queries.ts';
import { metadataOf } from '../screens/threads/metadata-text.ts';
import { titleOf } from '../screens/threads/threads-query.ts';

/** A link to a named entity. */
export interface Found {
  readonly kind: 'Assistant' | 'Graph' | 'Thread' | 'Cron' | 'Namespace' | 'Key' | 'Deployment';
  readonly id: string;
  readonly name: string;
}

/** What the caller may search. */
interface Searchable {
  readonly deployments: boolean;
  readonly keys: boolean;
  readonly others: boolean;
}

/** Maximum number of results per kind. */
const MAX_FOUND = 5;
/** Crons have no names that the server could search, so the newest are matched here. */
const MAX_CRONS = 500;
/** Shorter texts match too many names. */
const MIN_LENGTH = 2;
/** Maximum length that the API accepts for titles. */
const MAX_LENGTH = 200;

/** Entities with this text in their name, a few of each kind. Kinds that the server rejects are empty. */
export function foundQuery(text: string, { deployments, keys, others }: Searchable) {
  return queryOptions({
    queryKey: ['palette', text],
    queryFn: async ({ client, signal }): Promise<Found[]> => {
      const wanted = text.slice(0, MAX_LENGTH);
      const searches = [
        ...(others ? [assistantsOf, graphsOf, threadsOf, cronsOf, namespacesOf] : []),
        ...(keys ? [keysOf] : []),
        ...(deployments ? [deploymentsOf] : []),
      ];
      const answers = await Promise.allSettled(searches.map((search) => search(wanted, client, signal)));
      const failed = answers.find(({ status }) => status === 'rejected');
      if (failed && answers.every(({ status }) => status === 'rejected'))
        throw (failed as PromiseRejectedResult).reason;
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    },
    enabled: text.length >= MIN_LENGTH,
  });
}

async function assistantsOf(text: string, _client: QueryClient, signal: AbortSignal): Promise<Found[]> {
  const select = ['assistant_id' as const, 'name' as const, 'graph_id' as const];
  const body = { name: text, limit: MAX_FOUND, sort_by: 'updated_at' as const, select };
  const found = await dataOf(api.POST('/assistants/search', { body, signal }));
  return found.map((each) => ({ kind: 'Assistant', id: each.assistant_id, name: assistantName(each) }));
}

async function graphsOf(text: string, client: QueryClient): Promise<Found[]> {
  const graphs = Map.groupBy(await client.fetchQuery(assistantsQuery), ({ graph_id }) => graph_id);
  return [...graphs]
    .filter(([name]) => contains(name, text))
    .slice(0, MAX_FOUND)
    .map(([name, assistants]) => ({
      kind: 'Graph',
      id: mainAssistant(assistants)?.assistant_id ?? name,
      name,
    }));
}

/** Searches by words of the title, or by metadata such as `user=ana`. */
async function threadsOf(text: string, _client: QueryClient, signal: AbortSignal): Promise<Found[]> {
  const select = ['thread_id' as const, 'metadata' as const];
  const wanted = isMetadata(text) ? { metadata: metadataOf(text) } : { title: text };
  const found = await dataOf(
    api.POST('/threads/search', { body: { ...wanted, limit: MAX_FOUND, select }, signal }),
  );
  return found.map((thread) => ({
    kind: 'Thread',
    id: thread.thread_id,
    name: titleOf(thread) ?? thread.thread_id,
  }));
}

function isMetadata(text: string): boolean {
  try {
    return Object.keys(metadataOf(text)).length > 0;
  } catch {
    return false;
  }
}

type NamedCron = Pick<Schemas['Cron'], 'cron_id' | 'assistant_id' | 'schedule'>;

const cronsQuery = queryOptions({
  queryKey: ['cron', 'list', 'names'],
  queryFn: (): Promise<NamedCron[]> => {
    const select = ['cron_id' as const, 'assistant_id' as const, 'schedule' as const];
    return dataOf(api.POST('/runs/crons/search', { body: { limit: MAX_CRONS, select } }));
  },
});

async function cronsOf(text: string, client: QueryClient): Promise<Found[]> {
  const [crons, assistants] = await Promise.all([
    client.fetchQuery(cronsQuery),
    client.fetchQuery(assistantsQuery),
  ]);
  return crons
    .map(({ cron_id, assistant_id, schedule }) => {
      const assistant = assistants.find((each) => each.assistant_id === assistant_id);
      const name = `${assistant ? assistantName(assistant) : assistant_id} ${schedule}`;
      return { kind: 'Cron' as const, id: cron_id, name };
    })
    .filter(({ name }) => contains(name, text))
    .slice(0, MAX_FOUND);
}

async function namespacesOf(text: string, client: QueryClient): Promise<Found[]> {
  return (await client.fetchQuery(namespacesQuery))
    .map((labels) => labels.join('.'))
    .filter((name) => contains(name, text))
    .slice(0, MAX_FOUND)
    .map((name) => ({ kind: 'Namespace', id: name, name }));
}

async function keysOf(text: string, client: QueryClient): Promise<Found[]> {
  return (await client.fetchQuery(keysQuery))
    .filter(({ name }) => contains(name, text))
    .slice(0, MAX_FOUND)
    .map(({ key_id, name }) => ({ kind: 'Key', id: key_id, name }));
}

async function deploymentsOf(text: string): Promise<Found[]> {
  const { resources } = await controlPlane.list(MAX_FOUND, 0, text);
  return resources.map(({ id, name }) => ({ kind: 'Deployment', id, name }));
}

function contains(name: string, text: string): boolean {
  return name.toLowerCase().includes(text.toLowerCase());
}
