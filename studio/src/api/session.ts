import {
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { STUDIO_PATH } from './base.ts';
import { api, dataOf, type Schemas } from './client.ts';

export interface Session extends Readonly<Schemas['StudioSession']> {
  /** It is over, by time or because its key was revoked. The page keeps what it holds for whom it was of. */
  readonly has_ended: boolean;
}
type Begin = Schemas['StudioSessionCreate'];

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ client, signal }) =>
    reconcile(client, await dataOf(api.GET('/studio/session', { signal }))),
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

/** Signs in, or changes the view. Whose session has ended gets back the view of a user that it had. */
export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: Begin) => {
      const session = await dataOf(api.POST('/studio/session', { body }));
      const before = sessionOf(client);
      if (!before?.has_ended || before.viewing_as === null || before.caller !== session.caller)
        return session;
      return dataOf(api.POST('/studio/session', { body: { view_as: before.viewing_as } }));
    },
    onSuccess: (session) => replace(client, reconcile(client, session)),
  });
}

/** Signs out; nothing is kept for anybody. */
export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => dataOf(api.DELETE('/studio/session')),
    onSuccess(closed) {
      forget(client);
      return replace(client, { ...closed, has_ended: false });
    },
  });
}

/** Other tabs of the browser, which have the same cookie. */
let otherTabs: BroadcastChannel | undefined;

/** Notices a session that other tabs begin, change or end. Call it once. */
export function watchOtherTabs(client: QueryClient): void {
  otherTabs = new BroadcastChannel(`${STUDIO_PATH} session`);
  otherTabs.addEventListener('message', ({ data }: MessageEvent<Session>) => {
    if (data.signed_in) void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    else if (sessionOf(client)?.signed_in) {
      forget(client);
      client.setQueryData(sessionQuery.queryKey, data);
    }
  });
}

function sessionOf(client: QueryClient): Session | undefined {
  return client.getQueryData(sessionQuery.queryKey);
}

/** An answer about the session may be under way that is older than this one. */
async function replace(client: QueryClient, session: Session): Promise<void> {
  await client.cancelQueries({ queryKey: sessionQuery.queryKey });
  client.setQueryData(sessionQuery.queryKey, session);
  otherTabs?.postMessage(session);
}

const forgetting = new Set<() => void>();

/** Calls `forget` when somebody else is to use the page, for what is kept outside the cache of queries. */
export function onForget(forget: () => void): void {
  forgetting.add(forget);
}

/** What the page makes of a session that it receives: goes on, waits for its caller, or begins anew for another one. */
function reconcile(client: QueryClient, received: Schemas['StudioSession']): Session {
  const before = sessionOf(client);
  if (before?.signed_in && !received.signed_in) return { ...before, has_ended: true };
  if (before && isSame(before, received)) {
    if (before.has_ended) resume(client);
  } else if (before) forget(client);
  return { ...received, has_ended: false };
}

/** Names one caller and what they see, by which all that the page holds is kept apart. */
export function callerKey({ caller, viewing_as }: Pick<Session, 'caller' | 'viewing_as'>): string {
  return JSON.stringify([caller, viewing_as]);
}

function isSame(one: Session, other: Schemas['StudioSession']): boolean {
  return one.signed_in && callerKey(one) === callerKey(other);
}

/** What could not be read without a session is read for the first time, all else anew. */
function resume(client: QueryClient): void {
  void client.resetQueries({ predicate: ({ state }) => state.error !== null && state.data === undefined });
  void client.invalidateQueries(OTHERS);
}

/** All that is not the session, which stays in the cache: its observers would not notice a new one in its place. */
const OTHERS = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== 'session' };

function forget(client: QueryClient): void {
  for (const each of forgetting) each();
  client.getMutationCache().clear();
  client.removeQueries(OTHERS);
}
