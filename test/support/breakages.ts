import { randomUUID } from 'node:crypto';
import { firstUuid6 } from '../../src/core/ids.ts';
import { aCheckpoint, aDelivery, aQueueRow, aRun, IDS, inMinutes, insert } from './healthy-rows.ts';

/** What is wrong with a database of healthy rows after some statements, and what the doctor makes of it. */
export interface Breakage {
  readonly does: string;
  /** When it is called: dates are relative to now. */
  readonly breaks: () => readonly string[];
  readonly says: RegExp;
  readonly level?: 'notice';
  /** Beside a server. */
  readonly served?: true;
  /** Tables whose rows the fix leaves otherwise than before the breakage; `undefined` if only a person can fix it. */
  readonly fix_leaves?: readonly string[];
}

const OTHER = IDS.other;
const AT_THREAD = `where thread_id = '${IDS.thread}'`;
const LOG = ['run_events', 'run_event_expiry'];

/** Each kind of damage that the doctor knows. */
export const BREAKAGES: readonly Breakage[] = [
  {
    does: 'a run that is not in the queue',
    breaks: () => [aRun(OTHER, 'running')],
    says: /will never end, because the queue has no entry for it/,
    fix_leaves: ['runs', 'threads', ...LOG],
  },
  {
    does: 'a queue entry without a run',
    breaks: () => [aQueueRow(OTHER, 'blocked', { not_before: inMinutes(60) })],
    says: /The queue has an entry for Run .* which does not exist/,
    fix_leaves: LOG,
  },
  {
    does: 'a run that waits without one before it',
    breaks: () => [aRun(OTHER, 'pending'), aQueueRow(OTHER, 'blocked')],
    says: /waits for another run of its thread, but there is none/,
    fix_leaves: ['runs', 'run_queue'],
  },
  {
    does: 'a run whose worker has no lease',
    breaks: () => [
      aRun(OTHER, 'running'),
      aQueueRow(OTHER, 'running', { worker_id: randomUUID(), lease_token: OTHER }),
    ],
    says: /counts as running, but its worker is gone/,
    served: true,
    fix_leaves: ['runs', 'run_queue'],
  },
  {
    does: 'a due run that free slots do not take',
    breaks: () => [aRun(OTHER, 'pending'), aQueueRow(OTHER, 'ready', { not_before: inMinutes(-5) })],
    says: /has waited for over a minute although 4 slots are free/,
    served: true,
  },
  {
    does: 'a run that no server can decrypt',
    breaks: () => [aRun(OTHER, 'pending'), aQueueRow(OTHER, 'ready', { retry_reason: 'unreadable' })],
    says: /cannot be decrypted by the servers/,
  },
  {
    does: 'a thread that is busy without a run',
    breaks: () => [
      `delete from run_queue ${AT_THREAD}`,
      `delete from runs where run_id = '${IDS.scheduled}'`,
      `update threads set status = 'busy'`,
    ],
    says: /has the status of a run, but no run/,
    fix_leaves: ['run_queue', 'runs'],
  },
  {
    does: 'a thread that is interrupted at no checkpoint',
    breaks: () => [
      `delete from run_queue ${AT_THREAD}`,
      `delete from runs where run_id = '${IDS.scheduled}'`,
      `update threads set status = 'interrupted'`,
    ],
    says: /no interrupt is pending/,
    fix_leaves: ['run_queue', 'runs'],
  },
  {
    does: 'a thread whose question its newest checkpoint does not ask',
    breaks: () => [
      `delete from run_queue ${AT_THREAD}`,
      `delete from runs where run_id = '${IDS.scheduled}'`,
      aCheckpoint(IDS.thread, 'c'),
      `update threads set status = 'interrupted', interrupts = '{"t":[{"value":"really?"}]}'`,
    ],
    says: /no interrupt is pending/,
    fix_leaves: ['run_queue', 'runs', 'checkpoints'],
  },
  {
    does: 'a log that never expires',
    breaks: () => [insert('run_events', { run_id: OTHER, seq: 1, event: 'values', data: '{}' })],
    says: /run_events has 1 row of the log of an ended run/,
    fix_leaves: [],
  },
  {
    does: 'checkpoint positions that never expire',
    breaks: () => [insert('run_checkpoints', { run_id: OTHER, checkpoint_id: 'c', seq: 1 })],
    says: /run_checkpoints has 1 row/,
    fix_leaves: [],
  },
  {
    does: 'the log of a deleted thread',
    breaks: () => [insert('thread_log', { thread_id: OTHER, base: 0, run_id: OTHER, length: 1 })],
    says: /thread_log has 1 row of a thread that does not exist/,
    fix_leaves: [],
  },
  {
    does: 'values of no checkpoint',
    breaks: () => [
      insert('checkpoint_blobs', {
        thread_id: 't',
        ns: '',
        channel: 'c',
        version: '1',
        appends: 0,
        type: 'json',
        value: 'BYTES',
      }),
    ],
    says: /checkpoint_blobs has 1 row of a thread without checkpoints/,
    fix_leaves: [],
  },
  {
    does: 'a cron with a date that is not of its schedule',
    breaks: () => [`update crons set next_run_date = '2099-06-15T12:34:00.000Z'`],
    says: /has a wrong next date \(2099-06-15T12:34:00\.000Z instead of \d{4}-01-01T00:00:00\.000Z\)/,
    fix_leaves: [],
  },
  {
    does: 'an active cron without a date',
    breaks: () => ['update crons set next_run_date = null'],
    says: /has a wrong next date \(none instead of/,
    fix_leaves: [],
  },
  {
    does: 'a cron that no process fires',
    breaks: () => [`update crons set next_run_date = '2020-01-01T00:00:00.000Z'`],
    says: /1 cron did not fire when due/,
    served: true,
  },
  {
    does: 'a cron that the server disabled',
    breaks: () => [
      `update crons set enabled = 0, next_run_date = null, disabled_reason = 'no such assistant'`,
    ],
    says: /1 cron had to be disabled because no run could be created/,
    level: 'notice',
  },
  {
    does: 'a delivery that waits for ever',
    breaks: () => [`update webhook_outbox set next_at = '2099-01-01T00:00:00.000Z'`],
    says: /waits longer than any retry delay/,
    fix_leaves: ['webhook_outbox'],
  },
  {
    does: 'a delivery that no process sends',
    breaks: () => [`update webhook_outbox set next_at = '2020-01-01T00:00:00.000Z'`],
    says: /1 delivery should have been sent over ten minutes ago/,
    served: true,
  },
  {
    does: 'a dead letter',
    breaks: () => [aDelivery(OTHER, 'dead', inMinutes(-1))],
    says: /1 delivery failed permanently/,
    level: 'notice',
  },
  {
    does: 'a key in use that expires',
    breaks: () => [
      insert('api_keys', {
        key_id: OTHER,
        name: 'ci',
        digest: 'd',
        scope: 'run',
        created_at: inMinutes(-9),
        expires_at: inMinutes(60),
        last_used_at: inMinutes(-1),
      }),
    ],
    says: /\(ci\) is in use and expires at/,
    level: 'notice',
  },
  {
    does: 'a thread whose newest checkpoint was made by a clock that is ahead',
    breaks: () => [
      aCheckpoint(IDS.thread, firstUuid6(Date.parse('2020-01-01'))),
      aCheckpoint(IDS.thread, firstUuid6(Date.parse('2099-01-01'))),
      // The ids of others say no time, or one that has passed.
      aCheckpoint(IDS.other, 'z'),
      aCheckpoint(IDS.run, firstUuid6(Date.parse('2020-01-01'))),
    ],
    says: new RegExp(`^Thread ${IDS.thread} has a checkpoint written with a clock that was ahead`),
  },
  {
    does: 'a missing index',
    breaks: () => ['drop index runs_thread'],
    says: /runs_thread is missing/,
    fix_leaves: [],
  },
];
