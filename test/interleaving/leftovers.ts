import type { World } from './world.ts';

/** What is wrong once the queue is empty. */
export function leftovers({ model }: World, acknowledged: readonly string[]): string[] {
  const { now, runs, seen, damaged } = model;
  const wrong: string[] = [];
  for (const run_id of acknowledged) if (!seen.has(run_id)) wrong.push(`run ${run_id} was never stored`);
  for (const { thread_id } of now.threads) {
    const stored = [...runs].filter(([run_id, run]) => run.thread_id === thread_id && seen.has(run_id));
    const [[run_id, run] = []] = stored;
    if (stored.length !== 1 || !run_id || !run?.temporary || run.keeps || damaged.has(run_id)) continue;
    // One that was deleted has no log.
    const hasEnded = now.events.some((log) => log.run_id === run_id && log.ends > 0);
    if (hasEnded) wrong.push(`run ${run_id} has left behind the thread that it made for itself`);
  }
  for (const run_id of seen) {
    const noted = now.fires.filter((fire) => fire.run_id === run_id).length;
    if (noted !== Number(runs.get(run_id)?.cron))
      wrong.push(`run ${run_id} is noted for ${noted} times of a cron`);
  }
  const open = now.log.filter(({ run_id, length }) => length === null && !damaged.has(run_id));
  return [...wrong, ...open.map(({ run_id }) => `the log entry of run ${run_id} stays open`)];
}
