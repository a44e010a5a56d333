import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Select } from '../../ui/fields.tsx';
import { LogLines } from '../../ui/log-lines.tsx';
import { Panel } from '../../ui/page.tsx';
import { Failure } from '../../ui/states.tsx';
import { TailBox } from '../../ui/tail-box.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { type Level, type TailLine, useLogTail } from './use-log-tail.ts';

const LEVELS: readonly (readonly [Level, string])[] = [
  ['debug', 'All levels'],
  ['info', 'Info and above'],
  ['warn', 'Warnings and errors'],
  ['error', 'Errors'],
];

/** What the code of all runs prints while the page is open; of one run also what it printed before. */
export function LogTail() {
  const { level: wanted, assistant, run } = useSearch({ from: '/system' });
  const navigate = useNavigate({ from: '/system' });
  const level = LEVELS.find(([name]) => name === wanted)?.[0] ?? 'debug';
  const { lines, isLive, isOver, error } = useLogTail({ level, assistant_id: assistant, run_id: run });
  return (
    <Panel title="Log">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label="Level"
          value={level}
          options={LEVELS}
          onChange={({ target }) =>
            void navigate({ search: (before) => ({ ...before, level: target.value }), replace: true })
          }
        />
        <AssistantSelect
          aria-label="Assistant"
          disabled={run !== undefined}
          value={assistant ?? ''}
          onChange={({ target }) =>
            void navigate({ search: (before) => ({ ...before, assistant: target.value }), replace: true })
          }
        />
        <TextFilter
          // A link to another run brings another text.
          key={run}
          label="Id of a run"
          className="w-[300px]"
          value={run}
          set={(id) => void navigate({ search: (before) => ({ ...before, run: id }), replace: true })}
        />
        <span role="status" className="text-xs text-ink-3">
          {!isLive ? 'Connecting …' : isOver ? 'The run has ended' : 'Follows what graphs print'}
        </span>
      </div>
      {error !== undefined ? (
        <Failure error={error} />
      ) : (
        <Lines lines={lines} nothing={run ? 'This run has printed nothing.' : NOTHING} />
      )}
    </Panel>
  );
}

const NOTHING = 'Nothing has been printed since the page was opened.';

function Lines({ lines, nothing }: { lines: readonly TailLine[]; nothing: string }) {
  return (
    <TailBox label="Lines" lines={lines}>
      {lines.length === 0 && <p className="text-ink-3">{nothing}</p>}
      <LogLines
        lines={lines}
        keyOf={({ run_id, seq }) => `${run_id}/${seq}`}
        before={({ run_id }) => (
          <Link
            to="/runs/$runId"
            params={{ runId: run_id }}
            search={{ tab: 'logs' }}
            className="flex-none text-accent hover:underline"
          >
            {run_id.slice(-8)}
          </Link>
        )}
      />
    </TailBox>
  );
}
