import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from './client.ts';

export type Assistant = Schemas['Assistant'];

/** Assistants that fit into choices and names, of which a server has few. */
const MAX_ASSISTANTS = 1000;

/** What lists show. The rest, a prompt in its context for example, may be large. */
const LISTED = [
  'assistant_id',
  'graph_id',
  'name',
  'description',
  'version',
  'metadata',
  'updated_at',
] as const satisfies (keyof Assistant)[];

export type ListedAssistant = Pick<Assistant, (typeof LISTED)[number]>;

export const assistantsQuery = queryOptions({
  queryKey: ['assistant', 'list'],
  queryFn: (): Promise<ListedAssistant[]> =>
    dataOf(api.POST('/assistants/search', { body: { limit: MAX_ASSISTANTS, select: [...LISTED] } })),
  staleTime: 60_000,
});

/** What people call an assistant: its name, else that of its graph. */
export function assistantName({ name, graph_id }: Pick<Assistant, 'name' | 'graph_id'>): string {
  return name && name !== 'Untitled' ? name : graph_id;
}

/** The assistant of an address: by its id or, as the API finds it, the one that the server made of the graph of this name. */
export function assistantAt(assistants: readonly ListedAssistant[], id: string): ListedAssistant | undefined {
  return (
    assistants.find(({ assistant_id }) => assistant_id === id) ??
    assistants.find(({ graph_id, metadata }) => graph_id === id && metadata['created_by'] === 'system')
  );
}

/** JSON Schemas of an assistant's input, output, state and configuration. */
export const schemasQuery = (assistant_id: string) =>
  queryOptions({
    queryKey: ['assistant', assistant_id, 'schemas'],
    queryFn: () =>
      dataOf(api.GET('/assistants/{assistant_id}/schemas', { params: { path: { assistant_id } } })),
    staleTime: 60_000,
  });
