/** What is said to an agent. */
export interface Saying {
  readonly text?: string;
  readonly data?: object;
  /** Goes into the run's configuration. */
  readonly configurable?: object;
  readonly task_id?: string;
  readonly context_id?: string;
  /** Answers before the task has ended. */
  readonly at_once?: boolean;
}

/** A task as a client shows it, whatever its version calls things. */
export interface ToldTask {
  readonly id: string;
  readonly context_id: string;
  /** As in 0.3: `completed`, `input-required`. */
  readonly state: string;
  /** Texts of the status message. */
  readonly said: string;
  /** Texts of each artifact. */
  readonly artifacts: readonly string[];
}

export type ToldEvent =
  | { readonly kind: 'task'; readonly task: ToldTask }
  | { readonly kind: 'status'; readonly state: string; readonly said: string }
  | { readonly kind: 'artifact'; readonly text: string; readonly append: boolean };

/** An official client of some language and version, connected by the card of an agent. */
export interface A2aClient {
  send(saying: Saying): Promise<ToldTask>;
  stream(saying: Saying): AsyncIterable<ToldEvent>;
  get(id: string): Promise<ToldTask>;
  cancel(id: string): Promise<ToldTask>;
  subscribe(id: string): AsyncIterable<ToldEvent>;
  /** Ids of the tasks of a context; undefined where the version has no lists. */
  list(context_id: string): Promise<string[] | undefined>;
}

/** `agent`: where its card is, with a slash at the end. */
export type Connect = (agent: string) => Promise<A2aClient>;

/** `TASK_STATE_INPUT_REQUIRED` in the words of 0.3. */
export function stateName(name: string): string {
  return name.replace('TASK_STATE_', '').toLowerCase().replace('_', '-');
}

let count = 0;

export function messageId(): string {
  count += 1;
  return `message-${process.pid}-${count}`;
}
