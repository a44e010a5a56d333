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
  /** The session expired, or its key was revoked. The page keeps its content for the same caller. */
  readonly has_ended: boolean;
}
type Begin = Schemas['StudioSessionCreate'];

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ client, signal }) =>
    reconcile(client, await dataOf(api.GET('/studio/session', { signal }))),
  staleTime: Number.POSITIVE_INFINITY,
});

interface Rights {
  readonly can: (scope: 'run' | 'admin') => boolean;
  /** May see and change the server itself: its keys, logs and measurements. */
  readonly isOperator: boolean;
}

/** Who is signed in and what they may do. The server enforces it; the page only hides what would be rejected. */
export function useSession(): Session & Rights {
  const { data } = useSuspenseQuery(sessionQuery);
  const scopes = data.read_only ? ['read'] : SCOPES.slice(0, SCOPES.indexOf(data.scope ?? 'read') + 1);
  const can = (scope: string) => scopes.includes(scope);
  return { ...data, can, isOperator: data.unrestricted && can('admin') };
}

/** Whether the server has deployments, and the caller's access to them: administrators have it, users never do. */
export function useDeploymentAccess(): { isOn: boolean; canSee: boolean; canChange: boolean } {
  const { scope, unrestricted, read_only, extensions } = useSession();
  const isOn = extensions.includes('deployments');
  const canSee = isOn && unrestricted && (scope === 'admin' || scope === 'deployments:write');
  return { isOn, canSee, canChange: canSee && !read_only };
}

const SCOPES = ['read', 'run', 'admin'];

/** Signs in, or changes the view. After an expired session, the caller gets back the user view it had. */
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

/** Signs out and drops everything the page holds. */
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

/** Other tabs of this browser share the cookie. */
let otherTabs: BroadcastChannel | undefined;

/** Follows sessions that other tabs start, change or end. Call it once. */
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

/** An older response about the session may still be in flight. */
async function replace(client: QueryClient, session: Session): Promise<void> {
  await client.cancelQueries({ queryKey: sessionQuery.queryKey });
  client.setQueryData(sessionQuery.queryKey, session);
  otherTabs?.postMessage(session);
}

const forgetting = new Set<() => void>();

/** Calls `forget` when another caller takes over the page. For state kept outside the query cache. */
export function onForget(forget: () => void): void {
  forgetting.add(forget);
}

/** Applies a received session: continue, wait for the same caller, or start over for another one. */
function reconcile(client: QueryClient, received: Schemas['StudioSession']): Session {
  const before = sessionOf(client);
  if (before?.signed_in && !received.signed_in) return { ...before, has_ended: true };
  if (before && isSame(before, received)) {
    if (before.has_ended) resume(client);
  } else if (before) forget(client);
  return { ...received, has_ended: false };
}

/** Identifies a caller and their view. All page state is keyed by it. */
export function callerKey({ caller, viewing_as }: Pick<Session, 'caller' | 'viewing_as'>): string {
  return JSON.stringify([caller, viewing_as]);
}

function isSame(one: Session, other: Schemas['StudioSession']): boolean {
  return one.signed_in && callerKey(one) === callerKey(other);
}

/** Loads what failed without a session, and refetches the rest. */
function resume(client: QueryClient): void {
  void client.resetQueries({ predicate: ({ state }) => state.error !== null && state.data === undefined });
  void client.invalidateQueries(OTHERS);
}

/** Every query but the session. That one stays in the cache, as its observers would not notice a replacement. */
const OTHERS = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== 'session' };

function forget(client: QueryClient): void {
  for (const each of forgetting) each();
  client.getMutationCache().clear();
  client.removeQueries(OTHERS);
}
