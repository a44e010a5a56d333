import type { LogFields, Logger } from '../core/logger.ts';
import { type MaskSecrets, maskSecrets } from '../core/mask-secrets.ts';
import { withRelativePaths } from '../core/stack-frames.ts';
import { truncateText } from '../core/text.ts';
import type { OutputBatch, OutputLine } from '../graphs/graph.ts';
import { MAX_CHARACTERS, MAX_LINES, NewestLines } from '../graphs/observability/output-buffer.ts';
import type { Write } from '../storage/runs/batch.ts';
import type { Lease } from '../storage/runs/lease.ts';
import { appendRemovedLog } from '../storage/runs/removed-logs.ts';
import { appendRunLog, type LogLines, lastLine } from '../storage/runs/run-logs.ts';
import type { WriteBuffer } from '../storage/runs/write-buffer.ts';

/** Limit of a line, bytes. */
const MAX_LINE_BYTES = 8 * 1024;

/** How the output of user code is handled. */
export interface OutputRules {
  /** Whether it goes to the server log; otherwise it is only kept, and goes where the process prints it. */
  readonly is_logged: boolean;
  readonly mask: MaskSecrets;
  /** Folder of the project: kept lines show paths relative to it. */
  readonly root: string;
}

export const DEFAULT_OUTPUT_RULES: OutputRules = { is_logged: false, mask: maskSecrets, root: '' };

type PendingLine = Pick<OutputLine, 'time' | 'level' | 'message' | 'node' | 'at'>;

export interface AttemptLogOptions {
  readonly logger: Logger;
  /** Fields of every line about the run. */
  readonly fields: LogFields;
  readonly lease: Lease;
  readonly assistant_id: string;
  /** Whether an earlier attempt may have left lines. */
  readonly is_first: boolean;
  readonly writes: Pick<WriteBuffer, 'addDeferred'>;
  readonly rules: OutputRules;
  /** Receives lines once they are committed, or the end of a run is whose thread is deleted. */
  readonly onStored?: (lines: Omit<LogLines, 'trims'>) => void;
}

/** Log of an attempt: logs its lines for operators, and keeps the newest ones with the run. */
export class AttemptLog {
  readonly #options: AttemptLogOptions;
  /** Lines that join the next commit. */
  #pending: NewestLines<PendingLine> | undefined;
  /** Number of the last stored line; unknown before the first commit. */
  #seq: number | undefined;
  /** Part of a transaction whose commit is not known yet. */
  readonly #uncommitted = new Set<Omit<LogLines, 'trims'>>();
  /** Lines, and characters, since older ones were deleted. */
  #untrimmed = { lines: 0, characters: 0 };

  constructor(options: AttemptLogOptions) {
    this.#options = options;
    if (!options.is_first) this.#untrimmed.lines = MAX_LINES;
  }

  /** Adds a line that the run's code printed. */
  add({ lines, dropped, host }: OutputBatch): void {
    const { logger, fields, rules } = this.#options;
    if (dropped > 0 && rules.is_logged)
      logger.warn('lines of a run were dropped: it prints too fast', { ...fields, dropped });
    if (dropped > 0) this.#open().dropped += dropped;
    for (const given of lines) {
      const line = { ...given, message: truncateText(rules.mask(given.message), MAX_LINE_BYTES) };
      if (rules.is_logged || line.source === 'logger') this.#show(line, host);
      this.#keep({ ...line, message: line.message + details(line, rules) });
    }
  }

  /** Keeps a line of the server about the attempt, as operators see it. */
  keep(level: OutputLine['level'], message: string, time: number): void {
    this.#keep({ level, message: truncateText(this.#options.rules.mask(message), MAX_LINE_BYTES), time });
  }

  /** Whether the database may have lines of the run. */
  get mayBeStored(): boolean {
    return !this.#options.is_first || this.#seq !== undefined;
  }

  /** Call when the last stored lines are committed. */
  committed(): void {
    const batches = [...this.#uncommitted];
    this.#uncommitted.clear();
    for (const batch of batches) this.#options.onStored?.(batch);
  }

  /** The end of the run is committed. Lines that were not stored with it, as it was rolled back, are passed on here. */
  ended(): void {
    this.committed();
    const pending = this.#pending;
    if (pending) this.#options.onStored?.(this.#close(pending, this.#seq ?? 0));
  }

  #show({ level, message, source, node, at, fields: given }: OutputLine, host: number | undefined): void {
    const { logger, fields } = this.#options;
    const more = { ...(at !== undefined && { at }), ...(host !== undefined && { host }) };
    logger[level](message, { ...(given && JSON.parse(given)), ...fields, node, ...more, source });
  }

  #keep({ message, at, ...line }: PendingLine): void {
    const { root } = this.#options.rules;
    const place = at === undefined ? {} : { at: withRelativePaths(at, root) };
    this.#open().push({ ...line, ...place, message: withRelativePaths(message, root) });
  }

  /** Lines that are not stored yet. */
  #open(): NewestLines<PendingLine> {
    if (this.#pending) return this.#pending;
    const pending = new NewestLines<PendingLine>();
    this.#pending = pending;
    const { lease, assistant_id, writes } = this.#options;
    const { run_id, thread_id } = lease;
    // The transaction may be repeated: with the same lines, and the same numbers.
    let batch: LogLines | undefined;
    const closeAfter = async (last: () => Promise<number>) => {
      this.#seq ??= await last();
      batch ??= this.#close(pending, this.#seq);
      this.#uncommitted.add(batch);
      return batch;
    };
    const write: Write = async (tx) => appendRunLog(tx, run_id, await closeAfter(() => lastLine(tx, run_id)));
    const ofRemovedRun: Write['ofRemovedRun'] = async (tx, log_retention_ms) => {
      const last = async () => (this.mayBeStored ? lastLine(tx, run_id, 'removed_run_logs') : 0);
      const origin = { run_id, thread_id, assistant_id };
      appendRemovedLog(tx, { ...origin, log_retention_ms }, await closeAfter(last));
    };
    writes.addDeferred(Object.assign(write, { ofRemovedRun }));
    return pending;
  }

  /** Later lines go to the next commit. */
  #close(pending: NewestLines<PendingLine>, last: number): LogLines {
    if (this.#pending === pending) this.#pending = undefined;
    const { lines, dropped } = pending.take();
    this.#seq = last + dropped + lines.length;
    this.#untrimmed.lines += lines.length;
    for (const { message } of lines) this.#untrimmed.characters += message.length;
    const trims = this.#untrimmed.lines > MAX_LINES / 2 || this.#untrimmed.characters > MAX_CHARACTERS / 2;
    if (trims) this.#untrimmed = { lines: 0, characters: 0 };
    return {
      attempt: this.#options.lease.attempt,
      seq: this.#seq,
      lines: lines.map(
        ({ time, level, message, node = null, at = null }) => [time, level, message, node, at] as const,
      ),
      trims,
    };
  }
}

/** Fields logged besides the message. */
function details({ fields }: OutputLine, { mask }: OutputRules): string {
  return fields === undefined ? '' : ` ${truncateText(mask(fields), MAX_LINE_BYTES)}`;
}
