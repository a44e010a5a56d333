import { Forbidden } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { MetadataFilter } from '../db/metadata-filter.ts';
import type { Rule } from './actor.ts';

/** What the server writes into the metadata of its own assistants (CONTRACT §2.1). */
const SYSTEM_METADATA = { created_by: 'system' };

/**
 * Whoever makes something owns it, by `metadata.owner`, and sees nothing of others; the graphs' own assistants may be
 * read by everybody. In the store everybody has the namespaces that begin with their name.
 */
export function ownerRule(identity: string): Rule {
  const own: MetadataFilter = { contains: { owner: identity } };
  const readable: MetadataFilter = { any: [own, { contains: SYSTEM_METADATA }] };
  return (event, value) => {
    if (event.startsWith('store:')) return restrictToOwnNamespace(value, identity);
    if (/:(create|update|create_run)$/.test(event))
      value['metadata'] = withOwner(value['metadata'], identity);
    if (event === 'assistants:read' || event === 'assistants:search') return { metadata: readable };
    return { metadata: own };
  };
}

/** Nobody passes theirs off as the server's, which everybody may read. */
function withOwner(metadata: unknown, identity: string): Record<string, unknown> {
  const { created_by, ...rest } = (metadata ?? {}) as Record<string, unknown>;
  const ownCreator =
    created_by === undefined || created_by === SYSTEM_METADATA.created_by ? {} : { created_by };
  return { ...rest, ...ownCreator, owner: identity };
}

/** A search from the root is one from the user's own namespace; another one is refused. */
function restrictToOwnNamespace(value: Record<string, unknown>, identity: string): undefined {
  const label = namespaceOf(identity);
  const namespace = (value['namespace'] ?? []) as string[];
  if (namespace.length === 0) value['namespace'] = [label];
  else if (namespace[0] !== label)
    throw new Forbidden(`Your namespaces in the store must begin with "${label}".`);
}

/** A label has no dot, which addresses of mail do; and a star stands for any label where namespaces are listed. */
function namespaceOf(identity: string): string {
  return identity.replaceAll('%', '%25').replaceAll('.', '%2E').replaceAll('*', '%2A');
}

/** Whether a run of this assistant has been on the thread. */
export type HasRunOn = (thread_id: string, assistant_id: string) => Promise<boolean>;

/** One assistant, and the threads that it runs on: those that are made with the token, or that it ran on last. */
export function assistantRule(assistant_id: string): Rule {
  return (event, value) => {
    if (event === 'assistants:read' || event === 'assistants:search') return { ids: [assistant_id] };
    if (!event.startsWith('threads:')) throw new Forbidden('This token is for one assistant only.');
    if (event === 'threads:create_run' && value['assistant_id'] !== assistant_id) {
      throw new Forbidden(`This token is for assistant ${assistant_id} only.`);
    }
    if (event === 'threads:create') value['metadata'] = { ...(value['metadata'] as object), assistant_id };
    return { metadata: { contains: { assistant_id } } };
  };
}

/**
 * One thread. Of the assistants, those that come with the graphs and those that ran on the thread may be read: a run
 * shows the configuration of its assistant. With `has_assistant` the token's other rule says which.
 */
export function threadRule(thread_id: string, has_assistant: boolean, hasRunOn: HasRunOn): Rule {
  return async (event, value) => {
    if (event === 'assistants:read') {
      if (has_assistant) return undefined;
      const asked = String(value['assistant_id']);
      return (await hasRunOn(thread_id, asked))
        ? { ids: [asked] }
        : { metadata: { contains: SYSTEM_METADATA } };
    }
    if (!event.startsWith('threads:')) throw new Forbidden('This token is for one thread only.');
    const isMade = event === 'threads:create' || event === 'threads:create_run';
    if (isMade && value['thread_id'] !== thread_id) {
      throw new Forbidden(`This token is for thread ${thread_id} only.`);
    }
    return { ids: [thread_id] };
  };
}

/** Who is no user owns nothing, and makes nobody the owner of anything: it would appear among what that user made. */
export function noOwnerRule(): Rule {
  return (event, value) => {
    if (!/:(create|update|create_run)$/.test(event)) return undefined;
    value['metadata'] = dropOwner(value['metadata']);
    const { kwargs } = value;
    // The metadata of a run's configuration becomes the run's, and that of a thread it makes.
    const config = isObject(kwargs) ? kwargs['config'] : undefined;
    if (isObject(config) && isObject(config['metadata'])) {
      const metadata = dropOwner(config['metadata']);
      value['kwargs'] = { ...(kwargs as object), config: { ...config, metadata } };
    }
    return undefined;
  };
}

function dropOwner(metadata: unknown): unknown {
  if (!isObject(metadata)) return metadata;
  const { owner: _owner, ...rest } = metadata;
  return rest;
}
