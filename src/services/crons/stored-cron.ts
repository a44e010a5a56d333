import type { Actor } from '../../auth/actor.ts';
import { parseTimestamp, timestamp } from '../../core/clock.ts';
import { nextCronTime, scheduleAt } from '../../core/cron-times.ts';
import { InvalidInput } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { CronCreate, CronPatch, ThreadCronCreate } from '../../schemas/crons.ts';
import type { StoredCron } from '../../storage/crons/row.ts';
import { syncConfigurable } from '../assistants/run-config.ts';
import { withoutCronId } from './cron-runs.ts';

interface CronContext {
  readonly actor: Actor;
  readonly cron_id: string;
  readonly assistant_id: string;
  readonly thread_id: string | null;
  /** After authorization handlers have modified it. */
  readonly metadata: JsonObject;
  readonly now_ms: number;
}

/** Builds a new cron. Throws `BadRequest` if the client sends both `configurable` and `context`. */
export function newCron(input: CronCreate | ThreadCronCreate, context: CronContext): StoredCron {
  const { actor, cron_id, assistant_id, thread_id, metadata, now_ms } = context;
  const { timezone = null, end_time = null, enabled = true } = input;
  const schedule = requestedSchedule(input, now_ms) as string;
  const ends_at = endsAt(end_time);
  const now = timestamp(now_ms);
  return {
    cron_id,
    assistant_id,
    thread_id,
    user_id: actor.user?.identity ?? '',
    end_time,
    schedule,
    timezone,
    payload: payloadOf(input, { cron_id, assistant_id }),
    next_run_date: nextDate({ schedule, timezone, ends_at, enabled }, now_ms),
    metadata,
    on_run_completed: thread_id === null ? ((input as CronCreate).on_run_completed ?? 'delete') : null,
    enabled,
    disabled_reason: null,
    created_at: now,
    updated_at: now,
    ends_at,
    run_as: actor.user,
    made_by_cron: actor.cron_of_run ?? null,
  };
}

/** The cron after a patch (contract §2.5). Throws `BadRequest` as `newCron` does. */
export function updatedCron(
  stored: StoredCron,
  patch: CronPatch,
  { metadata, now_ms }: { metadata: JsonObject | null | undefined; now_ms: number },
): StoredCron {
  const schedule = requestedSchedule(patch, now_ms) ?? stored.schedule;
  const { timezone = stored.timezone, end_time = stored.end_time } = patch;
  const { enabled = stored.enabled } = patch;
  const cron: StoredCron = {
    ...stored,
    schedule,
    timezone,
    end_time,
    enabled,
    ends_at: endsAt(end_time),
    payload: payloadOf(mergedPayload(stored.payload, patch), stored),
    metadata: { ...stored.metadata, ...metadata },
    on_run_completed: stored.thread_id === null ? (patch.on_run_completed ?? stored.on_run_completed) : null,
    disabled_reason: patch.enabled === undefined ? stored.disabled_reason : null,
    updated_at: timestamp(now_ms),
  };
  return { ...cron, next_run_date: nextDateAfter(stored, cron, now_ms) };
}

/** The schedule of a request. Throws `InvalidInput` for `at` in the past, or with a `schedule`. */
function requestedSchedule({ schedule, at }: Pick<CronPatch, 'schedule' | 'at'>, now_ms: number) {
  if (at === undefined) return schedule;
  if (schedule !== undefined) throw new InvalidInput('Send either "schedule" or "at", not both.');
  if (parseTimestamp(at) <= now_ms) throw new InvalidInput(`"at" must be in the future: ${at} has passed.`);
  return scheduleAt(at);
}

/** Preserves a due tick that has not fired yet when other fields change. */
function nextDateAfter(stored: StoredCron, cron: StoredCron, now_ms: number): string | null {
  const same = stored.schedule === cron.schedule && stored.timezone === cron.timezone;
  if (cron.enabled && same && stored.next_run_date !== null) {
    return unlessEnded(stored.next_run_date, cron.ends_at);
  }
  return nextDate(cron, now_ms);
}

/** A new `context` alone replaces `configurable`, its older name, and vice versa. */
function mergedPayload(payload: JsonObject, patch: CronPatch): JsonObject {
  const both = { ...payload, ...patch };
  // Only one of them applies.
  if (patch.at !== undefined) delete both.schedule;
  if (patch.schedule !== undefined) delete both.at;
  if (patch.context && !patch.config && isObject(both['config'])) {
    const { configurable: _replaced, ...config } = both['config'];
    return { ...both, config };
  }
  if (patch.config?.configurable && !patch.context) {
    const { context: _replaced, ...rest } = both;
    return rest;
  }
  return both;
}

/** The request body with the assistant's id, and `cron_id` in `configurable` (contract §11). */
function payloadOf(
  input: JsonObject,
  { cron_id, assistant_id }: Pick<StoredCron, 'cron_id' | 'assistant_id'>,
): JsonObject {
  const config = withoutCronId(input['config']) ?? {};
  syncConfigurable(config, (input['context'] as JsonObject | null | undefined) ?? {});
  return { ...input, assistant_id, config: { ...config, configurable: { ...config.configurable, cron_id } } };
}

type Scheduled = Pick<StoredCron, 'schedule' | 'timezone' | 'ends_at' | 'enabled'>;

/** The first tick after `from_ms`; `null` if the cron is disabled or ends before it. */
export function nextDate(
  { enabled, schedule, timezone, ends_at }: Scheduled,
  from_ms: number,
): string | null {
  if (!enabled) return null;
  const next = nextCronTime(schedule, timezone, from_ms);
  return next === undefined ? null : unlessEnded(timestamp(next), ends_at);
}

/** `null` if the date is after the end; the end is inclusive. */
function unlessEnded(date: string, ends_at: string | null): string | null {
  return ends_at !== null && date > ends_at ? null : date;
}

/** `end_time` as a normalized timestamp. */
function endsAt(end_time: string | null): string | null {
  return end_time === null ? null : timestamp(parseTimestamp(end_time));
}
