import { AsyncLocalStorage } from 'node:async_hooks';

/** Header of requests that the code of a cron's run makes with `new Client()`: the id of the cron. */
export const CRON_OF_RUN_HEADER = 'x-agent-server-cron-of-run';

const current = new AsyncLocalStorage<string>();

/** Executes the code of a run; `cron_id` is absent if no cron made it. */
export function withCronOfRun<T>(cron_id: unknown, act: () => T): T {
  return typeof cron_id === 'string' ? current.run(cron_id, act) : act();
}

/** The cron whose run is executing. */
export function cronOfRun(): string | undefined {
  return current.getStore();
}
