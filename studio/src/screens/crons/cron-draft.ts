import { api, dataOf } from '../../api/client.ts';
import { localIso } from '../../ui/format.tsx';
import type { Cron } from './crons-query.ts';
import { LOCAL_ZONE } from './times.tsx';

/** The form fields, as text. */
export interface Draft {
  readonly assistant_id: string;
  readonly thread_id: string;
  readonly schedule: string;
  readonly timezone: string;
  /** Value of a `datetime-local` field, or empty. */
  readonly end: string;
  /** JSON text, or empty. */
  readonly input: string;
}

const NEW: Draft = {
  assistant_id: '',
  thread_id: '',
  schedule: '0 8 * * MON-FRI',
  timezone: LOCAL_ZONE,
  end: '',
  input: '{}',
};

/** The draft of an edited or a new cron. */
export function draftOf(cron: Cron | undefined): Draft {
  if (!cron) return NEW;
  const { assistant_id, thread_id, schedule, timezone, end_time, payload } = cron;
  const { input } = payload as { input?: unknown };
  return {
    assistant_id,
    thread_id: thread_id ?? '',
    schedule,
    timezone: timezone ?? '',
    end: end_time === null ? '' : localIso(end_time).slice(0, 16),
    input: input === undefined ? '' : JSON.stringify(input, null, 2),
  };
}

/** Creates a cron, or updates the fields of the given one that differ from the draft. Rejects with the server's error. */
export function saveCron(cron: Cron | undefined, draft: Draft): Promise<Cron> {
  const fields = {
    schedule: draft.schedule,
    timezone: draft.timezone.trim() || null,
    end_time: draft.end === '' ? null : new Date(draft.end).toISOString(),
    input: draft.input.trim() === '' ? null : (JSON.parse(draft.input) as unknown),
  };
  if (cron) {
    const before = draftOf(cron);
    const body = {
      ...(draft.schedule === before.schedule ? {} : { schedule: fields.schedule }),
      ...(draft.timezone === before.timezone ? {} : { timezone: fields.timezone }),
      ...(draft.end === before.end ? {} : { end_time: fields.end_time }),
      ...(draft.input === before.input ? {} : { input: fields.input }),
    };
    return dataOf(api.PATCH('/runs/crons/{cron_id}', { params: { path: { cron_id: cron.cron_id } }, body }));
  }
  const body = { assistant_id: draft.assistant_id, ...fields };
  const thread_id = draft.thread_id.trim();
  if (thread_id === '') return dataOf(api.POST('/runs/crons', { body }));
  return dataOf(api.POST('/threads/{thread_id}/runs/crons', { params: { path: { thread_id } }, body }));
}
