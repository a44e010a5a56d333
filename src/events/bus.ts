/**
 * What the parts of the server tell each other. Every message may be lost: each receiver also looks at storage by
 * itself, so that a lost message costs time and never a run or a frame (ENGINE §2).
 */
export interface EventBus {
  /** A run became ready. */
  wake(): void;
  /** Something waits for a time to come: a run, or a cron. */
  scheduled(): void;
  /** Something waits to be sent to others. */
  outbox(): void;
  /** The run of an A2A task ended. */
  task(run_id: string): void;
  /** The log of a run, or of a thread, has news. */
  hint(id: string): void;
  /** A run that executes was cancelled or deleted. */
  control(run_id: string): void;
  onWake(listener: () => void): Disposable;
  onScheduled(listener: () => void): Disposable;
  onOutbox(listener: () => void): Disposable;
  onTask(listener: (run_id: string) => void): Disposable;
  onHint(id: string, listener: () => void): Disposable;
  onControl(listener: (run_id: string) => void): Disposable;
}
