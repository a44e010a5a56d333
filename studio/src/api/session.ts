import { queryOptions, useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from './client.ts';

export type Session = Schemas['StudioSession'];
type Begin = Schemas['StudioSessionCreate'];

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => dataOf(api.GET('/studio/session')),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Who is signed in, and what they may do. The server decides; the page only hides what it would refuse. */
export function useSession(): Session & { can: (scope: 'run' | 'admin') => boolean } {
  const { data } = useSuspenseQuery(sessionQuery);
  const scopes = data.read_only ? ['read'] : SCOPES.slice(0, SCOPES.indexOf(data.scope ?? 'read') + 1);
  return { ...data, can: (scope) => scopes.includes(scope) };
}

/** What the caller may do with deployments. An administrator of the server may; a user never. */
export function useDeploymentAccess(): { canSee: boolean; canChange: boolean } {
  const { scope, unrestricted, read_only } = useSession();
  const canSee = unrestricted && (scope === 'admin' || scope === 'deployments:write');
  return { canSee, canChange: canSee && !read_only };
}

const SCOPES = ['read', 'run', 'admin'];

/** Signs in, or changes the view; everything shown so far was another caller's. */
export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Begin) => dataOf(api.POST('/studio/session', { body })),
    onSuccess: (session) => forget(client, session),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => dataOf(api.DELETE('/studio/session')),
    onSuccess: (session) => forget(client, session),
  });
}

const forgetting = new Set<() => void>();

/** Calls `forget` when somebody else is to use the page, for what is kept outside the cache of queries. */
export function onForget(forget: () => void): void {
  forgetting.add(forget);
}

/** The session stays in the cache, whose observers would not notice a new one in its place. */
function forget(client: ReturnType<typeof useQueryClient>, session: Session): void {
  const others = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== 'session' };
  for (const each of forgetting) each();
  client.getMutationCache().clear();
  client.setQueryData(sessionQuery.queryKey, session);
  if (session.signed_in) void client.resetQueries(others);
  else client.removeQueries(others);
}
