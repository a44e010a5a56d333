import fc from 'fast-check';
import { STORAGE_FAILURE_NAMES, type StorageFailureName } from './scheduler.ts';

/** What an attempt does: its supersteps, after which of them it commits, and how it ends. */
export interface Plan {
  readonly commits: readonly boolean[];
  /** `broken`: not even its end can be stored. A failure of storage: the graph meets it. */
  readonly end: 'success' | 'error' | 'waits' | 'broken' | StorageFailureName;
}

export interface CreateRun {
  readonly does: 'create';
  /** Which thread; a number that no thread has makes one that the run has for itself. */
  readonly thread: number;
  readonly strategy: 'enqueue' | 'reject' | 'interrupt' | 'rollback';
  readonly by: 'client' | 'cron' | 'trigger';
  readonly delayed: boolean;
  readonly webhook: boolean;
  readonly resumable: boolean;
  readonly keeps: boolean;
  /** A worker hears of it. */
  readonly told: boolean;
  /** Each attempt takes the next; after the last one attempts succeed, unless the run is poison. */
  readonly plans: readonly Plan[];
  readonly poison: boolean;
}

/** What one of the workers does. `stall`: it is stopped for longer than its lease, and may come back. */
export interface WorkerCommand {
  readonly does: 'claim' | 'check' | 'beat' | 'reap' | 'promote' | 'expire' | 'shut down' | 'stall' | 'crash';
  readonly worker: number;
}

/** What a client does with a thread. */
export interface ThreadCommand {
  readonly does: 'cancel' | 'cancel all' | 'delete run' | 'delete thread' | 'prune' | 'set state';
  readonly thread: number;
  readonly run: number;
  readonly action: 'interrupt' | 'rollback';
  /** The workers that execute what it stops hear of it. */
  readonly told: boolean;
}

/** What comes over the servers. `damage`: rows as an older version may have left them. */
export interface Accident {
  readonly does: 'start worker' | 'pass time' | 'fail storage' | 'crash database' | 'lose run' | 'open log';
  readonly which: number;
}

export type Command = CreateRun | WorkerCommand | ThreadCommand | Accident;

export interface Script {
  readonly commands: readonly Command[];
  /** Who goes on at each step; 0 is who moved last, which is also what comes after the last choice. */
  readonly choices: readonly number[];
}

const worker_index = fc.nat({ max: 3 });
/** Most on one thread, where they meet. */
const thread_index = fc.constantFrom(0, 0, 0, 1, 2, 3);

const plan: fc.Arbitrary<Plan> = fc.record({
  commits: fc.array(fc.boolean(), { maxLength: 2 }),
  end: fc.constantFrom(
    'success',
    'success',
    'success',
    'error',
    'waits',
    'broken',
    'away',
    ...STORAGE_FAILURE_NAMES,
  ),
});

const create: fc.Arbitrary<CreateRun> = fc.record({
  does: fc.constant('create'),
  thread: thread_index,
  strategy: fc.constantFrom('enqueue', 'enqueue', 'enqueue', 'reject', 'interrupt', 'rollback'),
  by: fc.constantFrom('client', 'client', 'client', 'cron', 'trigger'),
  delayed: fc.constantFrom(false, false, true),
  webhook: fc.boolean(),
  resumable: fc.boolean(),
  keeps: fc.constantFrom(false, false, true),
  told: fc.constantFrom(true, true, false),
  plans: fc.array(plan, { maxLength: 2 }),
  poison: fc.constantFrom(false, false, false, false, false, true),
});

const worker = (...does: WorkerCommand['does'][]): fc.Arbitrary<WorkerCommand> =>
  fc.record({ does: fc.constantFrom(...does), worker: worker_index });

const thread = (...does: ThreadCommand['does'][]): fc.Arbitrary<ThreadCommand> =>
  fc.record({
    does: fc.constantFrom(...does),
    thread: thread_index,
    run: fc.nat({ max: 3 }),
    action: fc.constantFrom('interrupt', 'rollback'),
    told: fc.constantFrom(false, false, true),
  });

const accident = (...does: Accident['does'][]): fc.Arbitrary<Accident> =>
  fc.record({ does: fc.constantFrom(...does), which: fc.nat({ max: 7 }) });

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 12, arbitrary: create },
  { weight: 4, arbitrary: worker('claim') },
  { weight: 3, arbitrary: worker('reap') },
  { weight: 5, arbitrary: worker('stall', 'stall', 'crash') },
  { weight: 4, arbitrary: worker('check', 'promote', 'expire', 'shut down') },
  { weight: 6, arbitrary: thread('cancel', 'cancel all') },
  { weight: 4, arbitrary: thread('delete run') },
  { weight: 3, arbitrary: thread('delete thread', 'prune', 'set state') },
  {
    weight: 7,
    arbitrary: accident('start worker', 'pass time', 'pass time', 'fail storage', 'fail storage'),
  },
  { weight: 2, arbitrary: accident('crash database') },
  { weight: 1, arbitrary: accident('lose run', 'open log') },
);

/** Below this a choice is to let the last one go on. */
export const GO_ON = 10;

export const script: fc.Arbitrary<Script> = fc.record({
  commands: fc.array(command, { minLength: 6, maxLength: 22, size: 'max' }),
  choices: fc.array(fc.nat({ max: 39 }), { minLength: 20, maxLength: 250, size: 'max' }),
});
