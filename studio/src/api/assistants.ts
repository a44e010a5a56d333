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

/** The one that the server made of a graph. */
export const isSystemAssistant = ({ metadata }: Pick<Assistant, 'metadata'>): boolean =>
  metadata['created_by'] === 'system';

/** Of the assistants of one graph, the server's own, or the first. */
export function mainAssistant<Listed extends ListedAssistant>(
  assistants: readonly Listed[],
): Listed | undefined {
  return assistants.find(isSystemAssistant) ?? assistants[0];
}

/** The assistant of an address: by its id or, as the API finds it, the one that the server made of the graph of this name. */
export function assistantAt(assistants: readonly ListedAssistant[], id: string): ListedAssistant | undefined {
  return (
    assistants.find(({ assistant_id }) => assistant_id === id) ??
    assistants.find((each) => each.graph_id === id && isSystemAssistant(each))
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
