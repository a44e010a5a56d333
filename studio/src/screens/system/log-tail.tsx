import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
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

const LOGS = [
  ['runs', 'Graph output'],
  ['server', 'Server log'],
] as const;

/** Live log: the output of all runs, the whole output of one run, or the server log. */
export function LogTail() {
  const { log, level: wanted, assistant, run } = useSearch({ from: '/system' });
  const { isOperator: hasServer } = useSession();
  const is_server = hasServer && log === 'server';
  const navigate = useNavigate({ from: '/system' });
  const level = LEVELS.find(([name]) => name === wanted)?.[0] ?? 'debug';
  const tail = useLogTail({ is_server, level, assistant_id: assistant, run_id: run });
  const { lines, isLive, writer, isOver, error } = tail;
  return (
    <Panel title="Log">
      <div className="flex flex-wrap items-center gap-2">
        {hasServer && (
          <Select
            aria-label="Log"
            value={is_server ? 'server' : 'runs'}
            options={LOGS}
            onChange={({ target }) =>
              void navigate({
                search: (before) => ({ ...before, log: target.value === 'server' ? 'server' : '' }),
                replace: true,
              })
            }
          />
        )}
        <Select
          aria-label="Level"
          value={level}
          options={LEVELS}
          onChange={({ target }) =>
            void navigate({ search: (before) => ({ ...before, level: target.value }), replace: true })
          }
        />
        {!is_server && (
          <>
            <AssistantSelect
              aria-label="Assistant"
              disabled={run !== undefined}
              value={assistant ?? ''}
              onChange={({ target }) =>
                void navigate({ search: (before) => ({ ...before, assistant: target.value }), replace: true })
              }
            />
            <TextFilter
              // The key resets the field when a link selects another run.
              key={run}
              label="Run id"
              className="w-[300px]"
              value={run}
              set={(id) => void navigate({ search: (before) => ({ ...before, run: id }), replace: true })}
            />
          </>
        )}
        <span role="status" className="text-xs text-ink-3">
          {!isLive
            ? 'Connecting …'
            : writer !== undefined
              ? `Following process ${writer.pid} on ${writer.host} only`
              : isOver
                ? 'The run has ended'
                : 'Following the output of all graphs'}
        </span>
      </div>
      {error !== undefined ? (
        <Failure error={error} />
      ) : (
        <Lines lines={lines} nothing={nothingOf(is_server, run)} />
      )}
    </Panel>
  );
}

function nothingOf(is_server: boolean, run: string | undefined): string {
  if (is_server) return 'No server log lines at this level.';
  return run ? 'No output from this run.' : 'No output since you opened this page.';
}

function Lines({ lines, nothing }: { lines: readonly TailLine[]; nothing: string }) {
  return (
    <TailBox label="Lines" lines={lines}>
      {lines.length === 0 && <p className="text-ink-3">{nothing}</p>}
      <LogLines
        lines={lines}
        keyOf={({ key }) => key}
        before={({ run_id }) =>
          run_id !== undefined && (
            <Link
              to="/runs/$runId"
              params={{ runId: run_id }}
              search={{ tab: 'logs' }}
              className="flex-none text-accent hover:underline"
            >
              {run_id.slice(-8)}
            </Link>
          )
        }
      />
    </TailBox>
  );
}
