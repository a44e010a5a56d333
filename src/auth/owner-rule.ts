import { Forbidden } from '../core/errors.ts';
import type { MetadataFilter } from '../db/metadata-filter.ts';
import type { Rule } from './actor.ts';

/** What the server writes into the metadata of its own assistants (CONTRACT §2.1). */
export const SYSTEM = { created_by: 'system' };

/**
 * Whoever makes something owns it, by `metadata.owner`, and sees nothing of others; the graphs' own assistants may be
 * read by everybody. In the store everybody has the namespaces that begin with their name.
 */
export function ownerRule(identity: string): Rule {
  const own: MetadataFilter = { contains: { owner: identity } };
  const readable: MetadataFilter = { any: [own, { contains: SYSTEM }] };
  return (event, value) => {
    if (event.startsWith('store:')) return keepToOwnNamespace(value, identity);
    if (/:(create|update|create_run)$/.test(event)) value['metadata'] = owned(value['metadata'], identity);
    if (event === 'assistants:read' || event === 'assistants:search') return { metadata: readable };
    return { metadata: own };
  };
}

/** Nobody passes theirs off as the server's, which everybody may read. */
function owned(metadata: unknown, identity: string): Record<string, unknown> {
  const { created_by, ...rest } = (metadata ?? {}) as Record<string, unknown>;
  const kept = created_by === undefined || created_by === SYSTEM.created_by ? {} : { created_by };
  return { ...rest, ...kept, owner: identity };
}

/** A search from the root is one from the user's own namespace; another one is refused. */
function keepToOwnNamespace(value: Record<string, unknown>, identity: string): undefined {
  const label = namespaceOf(identity);
  const namespace = (value['namespace'] ?? []) as string[];
  if (namespace.length === 0) value['namespace'] = [label];
  else if (namespace[0] !== label)
    throw new Forbidden(`Your namespaces in the store must begin with "${label}".`);
}

/** A label has no dot, which addresses of mail do; and a star stands for any label where namespaces are listed. */
export function namespaceOf(identity: string): string {
  return identity.replaceAll('%', '%25').replaceAll('.', '%2E').replaceAll('*', '%2A');
}
