/** Something about a single run that the queue met and went on from; told of in the log. */
export interface QueueProblem {
  readonly what:
    | 'place in the queue without a run removed'
    | 'run cannot be recovered'
    | 'run cannot be promoted';
  readonly run_id?: string;
  readonly thread_id: string;
  readonly error?: unknown;
}

export type QueueReport = (problem: QueueProblem) => void;
