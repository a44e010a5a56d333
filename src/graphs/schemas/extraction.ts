import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { extname } from 'node:path';
import { timeoutSignal } from '../../core/timers.ts';
import type { TypeSchemasByNamespace } from './extract.ts';

/** Where a graph is declared. */
export interface GraphSource {
  readonly graph_id: string;
  /** Absolute. */
  readonly file: string;
  /** Empty for the default export. */
  readonly export: string;
}

export interface ExtractionRequest {
  /** Where the project's compiler is looked for. */
  readonly folder: string;
  /** Answered in this order. */
  readonly graphs: readonly GraphSource[];
}

/** What types say of a graph, and the files that decide it. */
export interface Extracted {
  readonly graph_id: string;
  readonly schemas: TypeSchemasByNamespace;
  readonly dependencies: readonly string[];
}

export type ExtractionMessage =
  | Extracted
  | { readonly graph_id: string; readonly error: string }
  | { readonly failed: string };

/** A program with all of LangChain takes about 250 MB. */
const MEMORY_MB = 1024;

/**
 * Reads types in a process of its own, because a compiler blocks its thread for seconds and may need any amount of
 * memory. Resolves when it ended; rejects when it did not answer everything, in time or at all.
 */
export async function extractInChild(
  request: ExtractionRequest,
  options: { readonly limit_ms: number; readonly signal: AbortSignal },
  onExtracted: (message: Exclude<ExtractionMessage, { failed: string }>) => void,
): Promise<void> {
  const program = new URL(`./child${extname(import.meta.url)}`, import.meta.url);
  const timeout = timeoutSignal(options.limit_ms);
  const child = fork(program, {
    execArgv: [`--max-old-space-size=${MEMORY_MB}`],
    stdio: 'ignore',
    signal: AbortSignal.any([timeout, options.signal]),
    killSignal: 'SIGKILL',
    serialization: 'json',
  });
  let failed: string | undefined;
  child.on('message', (message: ExtractionMessage) => {
    if ('failed' in message) failed = message.failed;
    else onExtracted(message);
  });
  // An abort is an error event and an exit both; the exit tells enough.
  child.on('error', () => {});
  if (child.pid !== undefined) lowerPriority(child.pid);
  child.send(request, () => {});
  const [code, signal] = await once(child, 'close');
  if (timeout.aborted) throw new Error(`it took longer than ${options.limit_ms / 1000} seconds`);
  if (failed !== undefined) throw new Error(failed);
  if (code !== 0) throw new Error(`its process ended with ${signal ?? `code ${code}`}`);
}

/** Runs come first. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Not on every platform, or it has ended already.
  }
}
