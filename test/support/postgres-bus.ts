import { openBus } from '../../src/app/bus.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { LogLine } from '../../src/core/logger.ts';
import { text } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { notifications } from '../../src/storage/notifications.ts';
import { TEST_POSTGRES_URI } from './databases.ts';
import { recordingLogger } from './recording-logger.ts';

const url = TEST_POSTGRES_URI as string;

/** The database of a test, not by way of PgBouncer, through which nothing can be listened to. */
export async function directUrl(db: Db): Promise<string> {
  const row = await db.get(sql`select current_database() as ${text('name')}`);
  return Object.assign(new URL(url), { pathname: `/${row?.name}` }).href;
}

/** The bus of one process. */
export async function busOf(
  db: Db,
  worker_id: string,
  { listen_url, ...others }: Partial<Parameters<typeof openBus>[0]> & { listen_url?: string } = {},
) {
  const log: LogLine[] = [];
  const opened = await openBus({
    config: {
      storage: {
        url,
        notifications: 'notify',
        listen_url: listen_url ?? (db.dialect === 'sqlite' ? undefined : await directUrl(db)),
      },
      runs: { concurrency: 1 },
      server: { role: 'all' },
    } as never,
    notifications: notifications(db),
    worker_id,
    clock: systemClock,
    logger: recordingLogger('info', (line) => log.push(line)),
    ...others,
  });
  return { ...opened, log };
}
