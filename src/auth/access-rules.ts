import { Forbidden } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { MetadataFilter } from '../db/metadata-filter.ts';
import type { Rule } from './actor.ts';

/** Metadata that the server writes on system assistants (contract §2.1). */
const SYSTEM_METADATA = { created_by: 'system' };

/**
 * Row ownership by `metadata.owner`: users see only their own rows, plus the system assistants. In the store each user
 * owns the namespaces below their identity.
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

/** Prevents clients from marking their rows as system rows, which every user may read. */
function withOwner(metadata: unknown, identity: string): Record<string, unknown> {
  const { created_by, ...rest } = (metadata ?? {}) as Record<string, unknown>;
  const ownCreator =
    created_by === undefined || created_by === SYSTEM_METADATA.created_by ? {} : { created_by };
  return { ...rest, ...ownCreator, owner: identity };
}

/** Scopes a search from the root to the user's namespace; rejects other namespaces. */
function restrictToOwnNamespace(value: Record<string, unknown>, identity: string): undefined {
  const label = namespaceOf(identity);
  const namespace = (value['namespace'] ?? []) as string[];
  if (namespace.length === 0) value['namespace'] = [label];
  else if (namespace[0] !== label)
    throw new Forbidden(`Your namespaces in the store must begin with "${label}".`);
}

/** Escapes dots, which labels cannot contain (e-mail addresses do), and `*`, the wildcard of namespace queries. */
function namespaceOf(identity: string): string {
  return identity.replaceAll('%', '%25').replaceAll('.', '%2E').replaceAll('*', '%2A');
}

/** Whether a run of this assistant has been on the thread. */
export type HasRunOn = (thread_id: string, assistant_id: string) => Promise<boolean>;

/** Restricts a token to one assistant and the threads created with the token or last run by the assistant. */
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
 * Restricts a token to one thread. It may read system assistants and those that ran on the thread, whose configuration
 * the runs expose. With `has_assistant` the token's other rule decides.
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

/** Without a user no `owner` may be set: the row would appear among another user's rows. */
export function noOwnerRule(): Rule {
  return (event, value) => {
    if (!/:(create|update|create_run)$/.test(event)) return undefined;
    value['metadata'] = dropOwner(value['metadata']);
    const { kwargs } = value;
    // `config.metadata` is merged into the metadata of the run and of a thread it creates.
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
