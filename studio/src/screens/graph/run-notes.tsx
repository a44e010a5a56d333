import { useQuery } from '@tanstack/react-query';
import { assistantAt, assistantsQuery } from '../../api/assistants.ts';
import { shortId } from '../../ui/format.tsx';
import { Pill } from '../../ui/pill.tsx';
import { RevisionIdLink } from '../deployments/revision-link.tsx';
import type { RunDrawing } from './graph-queries.ts';
import { type NodeState, STATUS_TONES, stateText } from './node-states.ts';

interface OriginProps {
  readonly assistantId: string;
  readonly drawing: RunDrawing;
  /** End of the run. */
  readonly ended_at: string | null;
}

/** Which revision executed the run, and how the drawn graph may differ from the current or the executed one. */
export function Origin({ assistantId, drawing, ended_at }: OriginProps) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const now = assistantAt(assistants, assistantId)?.version;
  const { run_revision_id: executor } = drawing;
  const notes = [versionNote(drawing, now), executor ? undefined : codeNote(drawing, ended_at)];
  const text = notes.filter((note) => note !== undefined).join(' ');
  return text === '' && !executor ? null : (
    <p className="border-t border-line px-3 py-2 text-xs text-ink-2">
      {text} {executor && <Executor executor={executor} drawnBy={drawing.revision_id} />}
    </p>
  );
}

interface ExecutorProps {
  /** Revision that executed the run. */
  readonly executor: string;
  /** Revision whose graph is drawn. */
  readonly drawnBy: string | null | undefined;
}

function Executor({ executor, drawnBy }: ExecutorProps) {
  const isOther = drawnBy && drawnBy !== executor;
  return (
    <>
      Executed by revision <RevisionIdLink revision_id={executor} />
      {isOther ? (
        <>
          , which no longer serves. This is the graph of revision <RevisionIdLink revision_id={drawnBy} />.
        </>
      ) : (
        '.'
      )}
    </>
  );
}

function versionNote({ assistant_version }: RunDrawing, now: number | undefined): string | undefined {
  if (assistant_version === undefined || now === undefined || assistant_version === now) return undefined;
  return `This graph uses version ${assistant_version} of the assistant, which executed the run. The current version is ${now}.`;
}

/** Note for a run whose revision is unknown. */
function codeNote(
  { revision_id, thread_revision_id, loaded_at }: RunDrawing,
  ended_at: string | null,
): string | undefined {
  if (revision_id && thread_revision_id && revision_id !== thread_revision_id) {
    return `The thread started on revision ${shortId(thread_revision_id)}, which no longer serves. This is the graph of revision ${shortId(revision_id)}.`;
  }
  if (!loaded_at || ended_at === null || Date.parse(ended_at) >= Date.parse(loaded_at)) return undefined;
  return 'The graph code was loaded after the run ended, so the run may have used different code.';
}

interface MissingNodesProps {
  /** Keyed by node id. */
  readonly states: ReadonlyMap<string, NodeState>;
  readonly onSelect: (id: string) => void;
}

/** Nodes that the run executed but the drawn graph lacks. Selected, they show their steps like any other. */
export function MissingNodes({ states, onSelect }: MissingNodesProps) {
  if (states.size === 0) return null;
  return (
    <section className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2 text-xs text-ink-2">
      <p>The run also executed nodes that the graph no longer has:</p>
      {[...states].map(([id, state]) => (
        <button
          key={id}
          type="button"
          className="flex items-center gap-1.5 rounded-md border border-line px-2 py-0.5 text-ink hover:bg-sunk"
          onClick={() => onSelect(id)}
        >
          {id} <Pill tone={STATUS_TONES[state.status]}>{stateText(state)}</Pill>
        </button>
      ))}
    </section>
  );
}
