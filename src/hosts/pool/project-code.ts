import type { AuthHandlers } from '../../auth/handlers.ts';
import type { Embedder } from '../../graphs/store/embedder.ts';
import { fromWireError } from '../protocol/errors.ts';
import { fromWireVector } from '../protocol/project-messages.ts';
import { type Asking, askHost, HANDLER_LIMITS, WORK_LIMITS } from './ask.ts';
import type { Host } from './host.ts';

/**
 * Resolves when the hosts have loaded a part of the project: `auth`, `embedder`, or that of an extension, by its name. Rejects
 * with why the first of them could not.
 */
export async function loadedInHosts({ pool }: Asking, part: string): Promise<void> {
  const { project_errors } = await pool.listing;
  const error = project_errors[part];
  if (error) throw fromWireError(error);
}

/** The project's auth handlers in the hosts. Only `authenticate` may be asked again elsewhere: the other may have effects. */
export function remoteAuthHandlers(asking: Asking): AuthHandlers {
  const { limit_ms } = HANDLER_LIMITS;
  return {
    async authenticate({ method, url, headers }) {
      const sent = { method, url, headers: withoutUndefined(headers) };
      const ask = ({ peer }: Host) => peer.request('auth/authenticate', sent);
      const { json } = await askHost(asking, 'The authenticate handler', ask, HANDLER_LIMITS);
      return JSON.parse(json);
    },

    async authorize(event, value, user) {
      const sent = { event, value: JSON.stringify(value), user: JSON.stringify(user) };
      const ask = ({ peer }: Host) => peer.request('auth/authorize', sent);
      const answer = await askHost(asking, `The handler of ${event}`, ask, { limit_ms });
      if (answer.value !== undefined) assignDeep(value, JSON.parse(answer.value));
      return typeof answer.allowed === 'boolean' ? answer.allowed : JSON.parse(answer.allowed);
    },
  };
}

function withoutUndefined<T>(of: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(of).filter((entry): entry is [string, T] => entry[1] !== undefined),
  );
}

/** Makes `target` equal to `source`, in place at every depth: callers may hold the objects within. */
function assignDeep(target: object, source: object): void {
  if (Array.isArray(target) && Array.isArray(source)) target.length = source.length;
  const members = target as Record<string, unknown>;
  for (const key of Object.keys(members)) if (!Object.hasOwn(source, key)) delete members[key];
  for (const [key, value] of Object.entries(source)) {
    const old = members[key];
    if (isContainer(old) && isContainer(value) && Array.isArray(old) === Array.isArray(value))
      assignDeep(old, value);
    else members[key] = value;
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The project's embedder in the hosts. */
export function remoteEmbedder(asking: Asking): Embedder {
  const ask = <T>(call: (host: Host) => Promise<T>) => askHost(asking, 'The embedder', call, WORK_LIMITS);
  return {
    async documents(texts) {
      const { vectors } = await ask(({ peer }) => peer.request('embed/documents', { texts }));
      return (vectors ?? []).map(fromWireVector);
    },
    async query(text) {
      return fromWireVector((await ask(({ peer }) => peer.request('embed/query', { text }))).vector);
    },
  };
}
