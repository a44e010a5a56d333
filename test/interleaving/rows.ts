import { timestamp } from '../../src/core/clock.ts';
import type { Run, RunKwargs } from '../../src/schemas/runs.ts';
import type { NewCheckpoint } from '../../src/storage/checkpoints/put.ts';
import type { RunMarkers } from '../../src/storage/runs/markers.ts';
import type { CreateRun } from './commands.ts';

/** Ids that say what they are of: `r…3` is the third run. */
export class Names {
  readonly #counts = new Map<string, number>();

  next(kind: 'a' | 'b' | 'c' | 'd' | 'e' | 'f'): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return `${kind.repeat(8)}-0000-4000-8000-${count.toString(16).padStart(12, '0')}`;
  }

  /** In the order in which they are made, as LangGraph's are. */
  checkpoint(): string {
    const count = (this.#counts.get('checkpoint') ?? 0) + 1;
    this.#counts.set('checkpoint', count);
    return `c${String(count).padStart(5, '0')}`;
  }
}

export interface RunOf extends Pick<CreateRun, 'strategy' | 'webhook' | 'resumable' | 'keeps'> {
  readonly run_id: string;
  readonly thread_id: string;
  readonly temporary: boolean;
  readonly cron_id: string | undefined;
  readonly now_ms: number;
}

/** A run as the service makes it. */
export function runOf(of: RunOf): Run {
  const at = timestamp(of.now_ms);
  return {
    run_id: of.run_id,
    thread_id: of.thread_id,
    assistant_id: ASSISTANT,
    metadata: {},
    status: 'pending',
    kwargs: kwargsOf(of),
    multitask_strategy: of.strategy,
    created_at: at,
    updated_at: at,
    langsmith_session_name: null,
  };
}

export function markersOf({ temporary, keeps, resumable, cron_id }: RunOf): RunMarkers {
  const kept = resumable ? 'keep_interrupted' : 'keep';
  return {
    is_event_streaming: false,
    is_of_cron: cron_id !== undefined,
    thread_retention: !temporary ? 'keep' : keeps ? kept : 'delete',
  };
}

const ASSISTANT = '99999999-0000-4000-8000-000000000000';

function kwargsOf({ webhook, resumable, keeps, temporary, cron_id }: RunOf): RunKwargs {
  return {
    input: { n: 1 },
    command: null,
    config: { configurable: cron_id ? { cron_id } : {} },
    context: null,
    stream_mode: ['values'],
    interrupt_before: null,
    interrupt_after: null,
    webhook: webhook ? 'http://receiver.test/' : null,
    feedback_keys: null,
    temporary,
    subgraphs: false,
    resumable,
    checkpoint_during: true,
    durability: 'async',
    ...(temporary && keeps ? { on_completion: resumable ? 'delete' : 'keep' } : {}),
  };
}

export function checkpointOf(
  thread_id: string,
  checkpoint_id: string,
  parent_id: string | null,
  run_id: string | null,
  source: 'input' | 'loop' | 'update',
): NewCheckpoint {
  return {
    thread_id,
    ns: '',
    checkpoint_id,
    parent_id,
    run_id,
    checkpoint: '{}',
    versions: '{}',
    metadata: JSON.stringify({ source }),
    blobs: [],
  };
}
