import { Forbidden } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { Rule } from './actor.ts';
import { SYSTEM } from './owner-rule.ts';

/** Whether a run of this assistant has been on the thread. */
export type RanOn = (thread_id: string, assistant_id: string) => Promise<boolean>;

/** One assistant, and the threads that it runs on: those that are made with the token, or that it ran on last. */
export function onlyAssistant(assistant_id: string): Rule {
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
export function onlyThread(thread_id: string, has_assistant: boolean, ranOn: RanOn): Rule {
  return async (event, value) => {
    if (event === 'assistants:read') {
      if (has_assistant) return undefined;
      const asked = String(value['assistant_id']);
      return (await ranOn(thread_id, asked)) ? { ids: [asked] } : { metadata: { contains: SYSTEM } };
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
export function withoutOwner(): Rule {
  return (event, value) => {
    if (!/:(create|update|create_run)$/.test(event)) return undefined;
    value['metadata'] = ownerless(value['metadata']);
    const { kwargs } = value;
    // The metadata of a run's configuration becomes the run's, and that of a thread it makes.
    const config = isObject(kwargs) ? kwargs['config'] : undefined;
    if (isObject(config) && isObject(config['metadata'])) {
      const metadata = ownerless(config['metadata']);
      value['kwargs'] = { ...(kwargs as object), config: { ...config, metadata } };
    }
    return undefined;
  };
}

function ownerless(metadata: unknown): unknown {
  if (!isObject(metadata)) return metadata;
  const { owner: _owner, ...rest } = metadata;
  return rest;
}
