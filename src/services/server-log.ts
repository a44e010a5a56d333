import type { Actor } from '../auth/actor.ts';
import { requireUnrestricted } from '../auth/authorize.ts';
import { timestamp } from '../core/clock.ts';
import { NotFound } from '../core/errors.ts';
import { Latch } from '../core/latch.ts';
import type { RecentLine, RecentLog } from '../core/recent-log.ts';
import type { Frame } from '../events/frame.ts';
import { LOG_LEVELS } from '../schemas/run-logs.ts';
import type { ServerLogLine, ServerLogQuery } from '../schemas/server-log.ts';
import type { ProcessIdentity } from '../schemas/system-history.ts';

/** Timeout of one wait, ms. New lines wake the stream; this only bounds the timer. */
const IDLE_MS = 3_600_000;

export interface ServerLogDeps {
  /** `undefined` if this process does not write the log. */
  readonly recent_log: RecentLog | undefined;
  readonly process: Pick<ProcessIdentity, 'host' | 'pid'>;
}

export type ServerLogService = ReturnType<typeof serverLogService>;

/** The log of this process. */
export function serverLogService({ recent_log, process: { host, pid } }: ServerLogDeps) {
  return {
    /**
     * Streams the buffered lines after `last`, or all if `last` is from another process, then new ones until
     * `signal` aborts: a `ready` event, then `log` events. Throws `Forbidden` for users and tokens.
     */
    async follow(
      actor: Actor,
      { level }: ServerLogQuery,
      last: number,
      signal: AbortSignal,
    ): Promise<AsyncIterable<Frame>> {
      requireUnrestricted(actor, 'Logs of the server');
      if (recent_log === undefined) throw new NotFound(NO_LOG);
      const levels = new Set<string>(LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)));
      return frames(recent_log, { levels, last, identity: { host, pid } }, signal);
    },
  };
}

const NO_LOG =
  'This server does not write its own log: read that of the program that embeds it, or of the server that hosts the deployment.';

async function* frames(
  log: RecentLog,
  {
    levels,
    last,
    identity,
  }: { levels: ReadonlySet<string>; last: number; identity: ServerLogDeps['process'] },
  signal: AbortSignal,
): AsyncGenerator<Frame> {
  const added = new Latch();
  using _watching = log.onLine(() => added.open());
  const is_resumed = log.has(last);
  let position = is_resumed ? last : log.start;
  const ready = { ...identity, since: timestamp(log.since), is_resumed };
  yield { seq: position, event: 'ready', data: JSON.stringify(ready) };
  while (!signal.aborted) {
    const missing = log.start - position;
    if (missing > 0) {
      position = log.start;
      yield { seq: position, event: 'missing', data: JSON.stringify({ lines: missing }) };
    }
    const lines = log.after(position);
    for (const each of lines) {
      const line = { ...lineOf(each), ...identity };
      if (levels.has(line.level)) yield { seq: line.seq, event: 'log', data: JSON.stringify(line) };
    }
    position = lines.at(-1)?.seq ?? position;
    if (lines.length === 0) await added.wait(IDLE_MS, signal);
  }
}

function lineOf({ seq, json }: RecentLine): Omit<ServerLogLine, 'host' | 'pid'> {
  const { time, level, message, ...fields } = JSON.parse(json);
  return { seq, time, level, message, fields };
}
