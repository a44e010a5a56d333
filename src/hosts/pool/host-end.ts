import { HostLost } from '../../core/errors.ts';
import type { ExitNote, HostedRun, Place } from '../protocol/watch.ts';

/** How and why the process of a host ended. */
export interface HostEnd {
  /** For the log: such as `with code 3: node "ask" called process.exit(3)`. */
  readonly reason: string;
  /** The server ended it on purpose. */
  readonly is_intended: boolean;
  /** Killed from outside: by an operator or the OOM killer. */
  readonly is_external: boolean;
  /** The run that caused the end, if known. */
  readonly run: HostedRun | undefined;
  /** Whether no run caused the end, but other code of the project, such as an auth handler. */
  readonly is_outside_runs: boolean;
  /** The error of a session; `run_id` if it is that of a run. */
  readonly errorFor: (run_id: string | undefined) => HostLost;
}

/** Why the server ends the process of a host. */
export interface Kill {
  readonly reason: string;
  /** Neither the host nor any of its runs is the cause. */
  readonly is_intended: boolean;
  /** The run that causes the end. */
  readonly run?: HostedRun | undefined;
  /** Code that belongs to no run causes the end. */
  readonly is_outside_runs?: boolean;
  /** Any of the runs that are left may be to blame, although the server ends it on purpose. */
  readonly charges_runs?: boolean;
}

interface Ending {
  readonly code: number | string | null;
  readonly signal: string | null;
  /** Exit note that the host wrote before it exited. */
  readonly note: ExitNote | undefined;
  /** The code that blocked its event loop when the host last reported. */
  readonly blockedBy?: Place | undefined;
  readonly kill: Kill | undefined;
}

/** A host that fills its memory, or crashes in native code, writes no note: the run that was computing is to blame. */
function noteOf({ note, blockedBy }: Ending): ExitNote | undefined {
  return note ?? (blockedBy?.run_id === undefined ? undefined : { ...blockedBy, what: 'was computing' });
}

/**
 * Charges only the attempt of the run known to be to blame; no attempt if the server ended the host on purpose or because of
 * other code; otherwise that of each run, since any may have been the cause.
 */
export function endOf(ending: Ending): HostEnd {
  const { code, signal, kill } = ending;
  const note = noteOf(ending);
  const run = kill ? kill.run : note && runAt(note);
  const culprit = run?.run_id;
  const is_intended = kill?.is_intended ?? false;
  const charges_runs = kill?.charges_runs === true;
  const isUncharged = (is_intended && !charges_runs) || kill?.is_outside_runs === true;
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  const what = kill?.reason ?? (note && whatHappened(note));
  const why = what === undefined || kill || note?.at === undefined ? what : `${what} at ${note.at}`;
  return {
    reason: why === undefined ? how : `${how}: ${why}`,
    is_intended,
    is_external: signal === 'SIGKILL' && kill === undefined,
    run,
    is_outside_runs: kill ? kill.is_outside_runs === true : note !== undefined && culprit === undefined,
    errorFor: (run_id) => {
      const isCharged = !isUncharged && (culprit === undefined || culprit === run_id);
      const isKnown = culprit === undefined ? charges_runs : culprit === run_id;
      const known = isKnown ? what : undefined;
      return new HostLost(
        `The graph host ended ${how}${known === undefined ? '' : `: ${known}`}.`,
        isCharged,
      );
    },
  };
}

/** The run whose code this is; `undefined` if it belongs to none. */
function runAt({ run_id, thread_id, assistant_id, graph, attempt, trace_id }: Place): HostedRun | undefined {
  if (run_id === undefined) return undefined;
  return { run_id, thread_id, assistant_id, graph, attempt, trace_id };
}

function whatHappened({ node, what }: ExitNote): string {
  return `${node === undefined ? 'code of the project' : `node "${node}"`} ${what}`;
}
