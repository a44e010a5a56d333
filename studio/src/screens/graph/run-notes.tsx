import { useQuery } from '@tanstack/react-query';
import { assistantAt, assistantsQuery } from '../../api/assistants.ts';
import { shortId } from '../../ui/format.tsx';
import { Pill } from '../../ui/pill.tsx';
import type { RunDrawing } from './graph-queries.ts';
import { type NodeState, STATUS_TONES, stateText } from './node-states.ts';

interface OriginProps {
  readonly assistantId: string;
  readonly drawing: RunDrawing;
  /** Of the run. */
  readonly ended_at: string | null;
}

/** What the graph of a run is not that of now, or not that of then. */
export function Origin({ assistantId, drawing, ended_at }: OriginProps) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const now = assistantAt(assistants, assistantId)?.version;
  const notes = [versionNote(drawing, now), codeNote(drawing, ended_at)].filter((note) => note !== undefined);
  return notes.length === 0 ? null : (
    <p className="border-t border-line px-3 py-2 text-xs text-ink-2">{notes.join(' ')}</p>
  );
}

function versionNote({ assistant_version = null }: RunDrawing, now: number | undefined): string | undefined {
  if (assistant_version === null || now === undefined || assistant_version === now) return undefined;
  return `This is the graph with version ${assistant_version} of the assistant, which executed the run; it is at version ${now} now.`;
}

function codeNote(
  { revision_id, thread_revision_id, loaded_at }: RunDrawing,
  ended_at: string | null,
): string | undefined {
  if (revision_id && thread_revision_id && revision_id !== thread_revision_id) {
    return `The thread began with revision ${shortId(thread_revision_id)}, which does not serve any more: this is the graph of revision ${shortId(revision_id)}.`;
  }
  if (!loaded_at || ended_at === null || Date.parse(ended_at) >= Date.parse(loaded_at)) return undefined;
  return 'The code of the graph was loaded after the run had ended: it may have been another then.';
}

interface MissingNodesProps {
  /** By id of a node. */
  readonly states: ReadonlyMap<string, NodeState>;
  readonly onSelect: (id: string) => void;
}

/** Nodes that the run executed and the drawn graph lacks; selected, they show their steps as any other. */
export function MissingNodes({ states, onSelect }: MissingNodesProps) {
  if (states.size === 0) return null;
  return (
    <section className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2 text-xs text-ink-2">
      <p>The run also executed nodes that the graph does not have now:</p>
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
