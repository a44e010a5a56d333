import type { AccessEvent } from '../../auth/actor.ts';
import { type AuthHandlers, authHandlers } from '../../auth/handlers.ts';
import { importFromProject } from '../../graphs/project/load.ts';
import { type Embedder, loadEmbedder } from '../../graphs/store/embedder.ts';
import { toWireError } from '../protocol/errors.ts';
import type { HostMethods, Params, Result } from '../protocol/messages.ts';
import type { Handlers } from '../protocol/peer.ts';
import { toWireVector } from '../protocol/project-messages.ts';

type Initialize = Params<HostMethods, 'initialize'>;

/** What a host has loaded of the project besides its graphs. A part that failed to load throws its error when it is used. */
export interface ProjectCode {
  readonly auth: () => AuthHandlers;
  readonly embedder: () => Embedder;
  readonly errors: Result<HostMethods, 'initialize'>['project_errors'];
}

/** Loads one part after the other, as the server itself would: they may share modules. */
export async function openProjectCode({ root, auth, embedder }: Initialize): Promise<ProjectCode> {
  const embed = await load(embedder, (spec) => loadEmbedder({ ...spec, root }));
  const handlers = await load(auth, (path) => importFromProject(path, root, authHandlers));
  return {
    auth: handlers.get,
    embedder: embed.get,
    errors: {
      ...(handlers.error && { auth: toWireError(handlers.error) }),
      ...(embed.error && { embedder: toWireError(embed.error) }),
    },
  };
}

interface Loaded<T> {
  /** Throws the error. */
  readonly get: () => T;
  readonly error?: Error;
}

async function load<Spec, T>(spec: Spec | undefined, open: (spec: Spec) => Promise<T>): Promise<Loaded<T>> {
  try {
    if (spec === undefined) return { get: fails(new Error('The project does not configure this.')) };
    const part = await open(spec);
    return { get: () => part };
  } catch (thrown) {
    const error = thrown as Error;
    return { get: fails(error), error };
  }
}

function fails(error: Error): () => never {
  return () => {
    throw error;
  };
}

type Names = Extract<keyof HostMethods, `auth/${string}` | `embed/${string}`>;

/** Handlers for what the server asks of the project's code. */
export function projectCodeHandlers(code: () => ProjectCode): Pick<Handlers<HostMethods>, Names> {
  return {
    async 'auth/authenticate'(caller) {
      return { json: JSON.stringify(await code().auth().authenticate(caller)) };
    },
    async 'auth/authorize'({ event, value: before, user }) {
      const value = JSON.parse(before);
      const allowed = await code()
        .auth()
        .authorize(event as AccessEvent, value, JSON.parse(user));
      const after = JSON.stringify(value);
      return {
        allowed: typeof allowed === 'boolean' ? allowed : JSON.stringify(allowed),
        ...(after !== before && { value: after }),
      };
    },
    async 'embed/documents'({ texts }) {
      const vectors: unknown = await code().embedder().documents(texts);
      return { vectors: Array.isArray(vectors) ? Array.from(vectors, toWireVector) : null };
    },
    async 'embed/query'({ text }) {
      return { vector: toWireVector(await code().embedder().query(text)) };
    },
  };
}
