import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from './client.ts';

export type Assistant = Schemas['Assistant'];

/** Assistants loaded for selects and names. A server has few. */
const MAX_ASSISTANTS = 1000;

/** Fields that lists show. The others, such as a prompt in the context, can be large. */
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

/** Display name of an assistant: its own name, or else that of its graph. */
export function assistantName({ name, graph_id }: Pick<Assistant, 'name' | 'graph_id'>): string {
  return name && name !== 'Untitled' ? name : graph_id;
}

/** The default assistant that the server creates for a graph. */
export const isSystemAssistant = ({ metadata }: Pick<Assistant, 'metadata'>): boolean =>
  metadata['created_by'] === 'system';

/** Of the assistants of one graph, the server's default one, or else the first. */
export function mainAssistant<Listed extends ListedAssistant>(
  assistants: readonly Listed[],
): Listed | undefined {
  return assistants.find(isSystemAssistant) ?? assistants[0];
}

/** The assistant with this id or, as in the API, the default assistant of the graph with this name. */
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
