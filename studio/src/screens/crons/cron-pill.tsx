import { Pill } from '../../ui/pill.tsx';
import type { ListedCron } from './crons-query.ts';

/** State of a cron as a pill. */
export function CronPill({ cron: { enabled, disabled_reason, next_run_date } }: { cron: ListedCron }) {
  if (disabled_reason !== null) return <Pill tone="err">stopped by the server</Pill>;
  if (!enabled) return <Pill tone="idle">paused</Pill>;
  return next_run_date === null ? <Pill tone="idle">ended</Pill> : <Pill tone="ok">scheduled</Pill>;
}
