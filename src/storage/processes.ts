import { columns, nullable, text } from '../db/columns.ts';
import type { Db } from '../db/db.ts';
import { type Sql, sql } from '../db/sql.ts';
import { NOW } from '../db/time.ts';
import type { LeaseView, ProcessView } from '../schemas/system.ts';

/** What a process reports about itself, besides its lease. */
export interface ProcessDetails {
  readonly worker_id: string;
  readonly role: 'all' | 'api' | 'worker';
  /** Graph hosts. */
  readonly hosts: number;
}

const PROCESS = columns('workers', 'w.worker_id, w.host, w.pid, w.version, w.slots, w.started_at');
/** Registered after the lease. */
const DETAILS = nullable(columns('worker_details', 'd.role, d.hosts'));

const LEASE = sql`${columns('run_queue', 'q.run_id, q.thread_id, q.attempt')},
  ${columns('workers', 'w.worker_id, w.host, w.pid, w.expires_at')},
  ${nullable(columns('runs', 'r.assistant_id'))}, coalesce(a.started_at, r.started_at) as ${nullable(text('started_at'))}`;

/** Processes on the database; their leases are those of the queue's workers. */
export function processRepository(db: Db) {
  return {
    /** For a process that holds a lease. Deletes what is left of processes without one. */
    register({ worker_id, role, hosts }: ProcessDetails): Promise<void> {
      return db.transaction('async', async (tx) => {
        await tx.run(sql`delete from worker_details
          where not exists (select 1 from workers w where w.worker_id = worker_details.worker_id)`);
        await tx.run(sql`insert into worker_details (worker_id, role, hosts) values (${worker_id}, ${role}, ${hosts})
          on conflict (worker_id) do update set role = excluded.role, hosts = excluded.hosts`);
      });
    },

    /** Live processes, the oldest first. */
    list(): Promise<ProcessView[]> {
      return db.all(sql`
        select ${PROCESS}, ${DETAILS}
        from workers w left join worker_details d on d.worker_id = w.worker_id
        where w.expires_at > ${NOW} order by w.started_at, w.worker_id`);
    },

    /**
     * Runs that processes execute, the oldest first; those of a process that died until another takes them. Attempts are
     * recorded by number of the start, which `runs` counts: the queue does not count an attempt that was refunded.
     */
    leases(limit: number): Promise<LeaseView[]> {
      return db.all(sql`
        select ${LEASE} from run_queue q join workers w on w.worker_id = q.worker_id
          left join runs r on r.run_id = q.run_id
          left join run_attempts a on a.run_id = q.run_id and a.attempt = r.attempt
        where q.state = 'running' order by q.seq limit ${limit}`);
    },
  };
}

/** No process of this id, a value or a column, has a lease that lasts. */
export function isDead(worker_id: string | Sql): Sql {
  return sql`not exists (select 1 from workers w where w.worker_id = ${worker_id} and w.expires_at > ${NOW})`;
}
