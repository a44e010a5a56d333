import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';

export const assistantQuery = (assistant_id: string) =>
  queryOptions({
    queryKey: ['assistant', assistant_id, 'assistant'],
    queryFn: () => dataOf(api.GET('/assistants/{assistant_id}', { params: { path: { assistant_id } } })),
  });

/** Number of versions listed. Older ones are rarely needed. */
const MAX_VERSIONS = 100;

/** Newest first. */
export const versionsQuery = (assistant_id: string) =>
  queryOptions({
    queryKey: ['assistant', assistant_id, 'versions'],
    queryFn: () =>
      dataOf(
        api.POST('/assistants/{assistant_id}/versions', {
          params: { path: { assistant_id } },
          body: { limit: MAX_VERSIONS },
        }),
      ),
  });

/** Mutations of an assistant. Each creates or selects a version, and the page reloads what it shows. */
export function useAssistantChanges(assistant_id: string) {
  const client = useQueryClient();
  const onSuccess = () => client.invalidateQueries({ queryKey: ['assistant'] });
  const params = { path: { assistant_id } };
  return {
    save: useMutation({
      mutationFn: (body: Schemas['AssistantPatch']) =>
        dataOf(api.PATCH('/assistants/{assistant_id}', { params, body })),
      onSuccess,
    }),
    setLatest: useMutation({
      mutationFn: (version: number) =>
        dataOf(api.POST('/assistants/{assistant_id}/latest', { params, body: { version } })),
      onSuccess,
    }),
    remove: useMutation({
      mutationFn: () => dataOf(api.DELETE('/assistants/{assistant_id}', { params })),
      onSuccess: () => client.invalidateQueries({ queryKey: ['assistant', 'list'] }),
    }),
  };
}
