import type { Assistant } from '../schemas/assistants.ts';
import type { Cron } from '../schemas/crons.ts';
import type { JsonObject } from '../schemas/fields.ts';
import type { RunExplanation } from '../schemas/run-explanation.ts';
import type { CancelAction, MultitaskStrategy, Run, RunKwargs, RunStatus } from '../schemas/runs.ts';
import type { AttemptStatus, StepKind, StepStatus } from '../schemas/steps.ts';
import type { RunError, Thread, ThreadExpiry, ThreadStatus } from '../schemas/threads.ts';
import type { JsonText } from './json.ts';
import type { Tables } from './tables.ts';

/** 1 for true. */
type Flag = 0 | 1;

/**
 * What the program alone knows of a column: what its JSON parses to, and to which values it keeps text or an integer
 * that the schema leaves open. Whether a column may be null is the schema's to say.
 */
export interface ColumnTypes {
  'assistant_versions.config': JsonText<Assistant['config']>;
  'assistant_versions.context': JsonText<JsonObject>;
  'assistant_versions.metadata': JsonText<JsonObject>;
  'assistants.config': JsonText<Assistant['config']>;
  'assistants.context': JsonText<JsonObject>;
  'assistants.metadata': JsonText<JsonObject>;
  'cron_fires.status': RunStatus;
  'crons.enabled': Flag;
  'crons.metadata': JsonText<JsonObject>;
  'crons.on_run_completed': NonNullable<Cron['on_run_completed']>;
  'crons.payload': JsonText<JsonObject>;
  'crons.run_as': JsonText<object>;
  'idempotency_keys.answer': JsonText<{ status: number; headers: Record<string, string>; body: string }>;
  'idempotency_keys.run': JsonText<Run>;
  'interrupt_answers.answer': JsonText;
  'interrupt_answers.value': JsonText;
  'removed_runs.error': JsonText<RunError>;
  'removed_runs.multitask_strategy': MultitaskStrategy;
  'removed_runs.status': RunStatus;
  'run_queue.cancel_action': CancelAction;
  'run_queue.owns_thread': Flag;
  'run_queue.retry_reason': NonNullable<RunExplanation['retry_reason']>;
  'run_attempts.status': Exclude<AttemptStatus, 'lost'>;
  'run_steps.error': JsonText<RunError>;
  'run_steps.kind': StepKind;
  'run_steps.status': StepStatus;
  'run_steps.texts': JsonText<Record<string, string>>;
  'runs.error': JsonText<RunError>;
  'runs.announces_end': Flag;
  'runs.is_event_streaming': Flag;
  'runs.is_of_cron': Flag;
  'runs.kwargs': JsonText<RunKwargs>;
  'runs.metadata': JsonText<JsonObject>;
  'runs.multitask_strategy': MultitaskStrategy;
  'runs.status': RunStatus;
  'store_items.namespace': JsonText<string[]>;
  'threads.config': JsonText<JsonObject>;
  'threads.error': JsonText<RunError>;
  'threads.interrupts': JsonText<NonNullable<Thread['interrupts']>>;
  'threads.metadata': JsonText<JsonObject>;
  'threads.status': ThreadStatus;
  'threads.ttl_strategy': ThreadExpiry['strategy'];
  'webhook_attempts.answer_headers': JsonText<Readonly<Record<string, string>>>;
  'webhook_outbox.headers': JsonText<Readonly<Record<string, string>>>;
  'webhook_outbox.metadata': JsonText<JsonObject>;
  'worker_details.role': 'all' | 'api' | 'worker';
  'workers.graph_ids': JsonText<string[]>;
}

/** The rows of each table as the program stores and reads them. */
export type Rows = {
  [Table in keyof Tables]: {
    [Column in keyof Tables[Table]]: `${Table}.${Column & string}` extends keyof Known
      ? Known[`${Table}.${Column & string}`] | Extract<Tables[Table][Column], null>
      : Tables[Table][Column];
  };
};

/** The compiler rejects a name that is no column, and a type that its column cannot have. */
type Known = Narrowed<ColumnTypes>;
type Narrowed<Types extends { [Name in keyof Types]: StoredType<Name> }> = Types;
type StoredType<Name> = {
  [Table in keyof Tables]: Name extends `${Table}.${infer Column extends keyof Tables[Table] & string}`
    ? NonNullable<Tables[Table][Column]>
    : never;
}[keyof Tables];
