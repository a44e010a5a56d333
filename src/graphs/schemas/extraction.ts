import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { programFile } from '../../core/package-files.ts';
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
  /** Where the project's compiler is resolved. */
  readonly folder: string;
  /** Processed in this order. */
  readonly graphs: readonly GraphSource[];
}

/** Schemas of a graph from its types, and the files that they depend on. */
export interface Extracted {
  readonly graph_id: string;
  readonly schemas: TypeSchemasByNamespace;
  readonly dependencies: readonly string[];
}

export type ExtractionMessage =
  | Extracted
  | { readonly graph_id: string; readonly error: string }
  | { readonly failed: string };

/** Heap limit: a program with all of LangChain takes about 250 MB. */
const MEMORY_MB = 1024;

/**
 * Reads types in a child process: a compiler blocks its thread for seconds and may need any amount of memory. Resolves
 * when the child has exited; rejects if it failed or timed out.
 */
export async function extractInChild(
  request: ExtractionRequest,
  options: { readonly limit_ms: number; readonly signal: AbortSignal },
  onExtracted: (message: Exclude<ExtractionMessage, { failed: string }>) => void,
): Promise<void> {
  const timeout = timeoutSignal(options.limit_ms);
  const child = fork(programFile('graphs/schemas/child'), {
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
  // An abort emits both `error` and `close`; `close` suffices.
  child.on('error', () => {});
  if (child.pid !== undefined) lowerPriority(child.pid);
  child.send(request, () => {});
  const [code, signal] = await once(child, 'close');
  if (timeout.aborted) throw new Error(`it took longer than ${options.limit_ms / 1000} seconds`);
  if (failed !== undefined) throw new Error(failed);
  if (code !== 0) throw new Error(`its process ended with ${signal ?? `code ${code}`}`);
}

/** Runs have priority. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Not supported on every platform, or it has exited already.
  }
}
