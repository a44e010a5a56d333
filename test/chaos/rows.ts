import type { FaultName } from './faults/faults.ts';

export type Engine = 'sqlite' | 'postgres';

/** A guarantee, the test that holds it, and the mechanism without which this test fails. */
export interface Row {
  /** As in docs/internals/guarantees.md. */
  readonly row: number;
  readonly engines: readonly Engine[];
  /** Test file of this folder, without `.test.ts`, and a part of the test's name. */
  readonly file: string;
  readonly test: string;
  /** What `npm run chaos` switches off, to see the test fail. */
  readonly without: FaultName;
}

const SQLITE = ['sqlite'] as const;
const POSTGRES = ['postgres'] as const;
const BOTH = ['sqlite', 'postgres'] as const;

export const ROWS: readonly Row[] = [
  row(1, SQLITE, 'kill-nine', '50 background runs survive', 'retries begin anew'),
  row(1, SQLITE, 'poison.slow', 'a run that crashes the server each time', 'attempts without end'),
  row(
    1,
    POSTGRES,
    'lost-commits.slow',
    'recovery from a dead worker: the run continues once',
    'retries begin anew',
  ),
  row(2, POSTGRES, 'leases.slow', 'frozen beyond its lease', 'no fencing token'),
  row(
    3,
    POSTGRES,
    'leases.slow',
    'blocks its event loop for longer than a lease',
    'heartbeat on the event loop',
  ),
  row(4, SQLITE, 'cut-streams.slow', 'streams that are cut', 'streams begin anew'),
  row(4, POSTGRES, 'killed-api.slow', 'streams resume through another process', 'streams begin anew'),
  row(
    5,
    POSTGRES,
    'database-crashes.slow',
    'runs continue from what the database kept',
    'lost commits go unseen',
  ),
  row(6, POSTGRES, 'leases.slow', 'a process that cannot reach its database', 'no local deadline'),
  row(7, POSTGRES, 'lost-notifications.slow', 'runs start by a poll of the queue', 'no polls'),
  row(8, BOTH, 'full-disk.slow', 'a full disk', 'full disks are bugs'),
  row(9, SQLITE, 'shutdown.slow', 'runs that outlast the grace period', 'stops charge an attempt'),
  row(9, POSTGRES, 'leases.slow', 'SIGTERM hands runs over', 'stops charge an attempt'),
  row(10, POSTGRES, 'crons.slow', 'four', 'ticks without compare-and-set'),
  row(11, BOTH, 'webhooks.slow', 'killed before a webhook is sent', 'webhooks at most once'),
  row(12, BOTH, 'one-run-a-thread.slow', 'enqueue', 'threads with many heads'),
  row(
    13,
    SQLITE,
    'embedded-kills.slow',
    'killed right after its responses has stored all of them',
    'answers before their commit',
  ),
  row(
    14,
    POSTGRES,
    'lost-notifications.slow',
    'a cancel from another process',
    'cancels by notification only',
  ),
  row(15, BOTH, 'silent-reader.slow', 'clients that never read', 'no back-pressure'),
];

function row(row: number, engines: readonly Engine[], file: string, test: string, without: FaultName): Row {
  return { row, engines, file, test, without };
}
