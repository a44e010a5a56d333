import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type Assistant, assistantName, assistantsQuery } from '../../api/assistants.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { runsOfThreadQuery } from '../chat/chat-queries.ts';
import { versionsQuery } from './assistant-queries.ts';
import { Tried } from './tried.tsx';
import { TryInput } from './try-input.tsx';
import type { Version } from './version.ts';

const PLACES = ['Left', 'Right'] as const;

/**
 * Runs two versions, or two assistants, on the same input side by side. On the right is this assistant. What is tried and its
 * threads are in the address.
 */
export function TryVersions({ assistant }: { assistant: Assistant }) {
  const { with: other = assistant.assistant_id, ...search } = useSearch({
    from: '/assistants/$assistantId',
  });
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const [left, right] = [useVersions(other), useVersions(assistant.assistant_id)];
  const navigate = useNavigate({ from: '/assistants/$assistantId' });
  const error = left.error ?? right.error;
  if (error) return <Failure error={error} retry={() => void [left, right].map((each) => each.refetch())} />;
  if (!left.data || !right.data) return <Loading what="versions" />;
  const isSame = other === assistant.assistant_id;
  const rightVersion =
    find(right.data, search.version) ?? find(right.data, assistant.version) ?? right.data[0];
  if (!rightVersion) return null;
  const leftAssistant = assistants.find(({ assistant_id }) => assistant_id === other) ?? assistant;
  const leftVersion =
    find(left.data, search.against) ??
    find(left.data, isSame ? rightVersion.version - 1 : leftAssistant.version) ??
    rightVersion;
  const sides = [
    { assistant: isSame ? assistant : leftAssistant, version: leftVersion, all: left.data, other },
    { assistant, version: rightVersion, all: right.data },
  ] as const;
  const shown = { version: String(rightVersion.version), against: String(leftVersion.version) };
  const threads = search.tried?.split(',') ?? [];
  /** What is newly selected has no answer yet. */
  const choose = (change: Choice) =>
    void navigate({
      search: ({ tried: _, ...before }) => ({ ...before, ...shown, ...change }),
      replace: true,
    });
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 max-lg:flex-none">
      <div className="grid min-h-0 flex-1 gap-4 max-lg:auto-rows-[360px] lg:grid-cols-2 lg:grid-rows-[minmax(0,1fr)]">
        {sides.map((side, i) => (
          <SideCard key={PLACES[i]} place={i} {...side} thread={threads[i]} choose={choose} />
        ))}
      </div>
      <CompareTried threads={threads} />
      <TryInput
        assistant={assistant}
        sides={sides}
        onStarted={(ids) =>
          void navigate({
            search: (before) => ({ ...before, ...shown, tried: ids.join(',') }),
            replace: true,
          })
        }
      />
    </div>
  );
}

/** A change of what is tried, in terms of the address. */
interface Choice {
  readonly version?: string;
  readonly against?: string | undefined;
  readonly with?: string;
}

interface SideCardProps {
  readonly place: number;
  readonly version: Version;
  /** All versions of the assistant. */
  readonly all: readonly Version[];
  /** Id of the assistant, where it can be chosen. */
  readonly other?: string;
  readonly thread: string | undefined;
  readonly choose: (change: Choice) => void;
}

/** One side: what is tried there, and its answer. */
function SideCard({ place, version, all, other, thread, choose }: SideCardProps) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  return (
    <Card className="flex min-h-0 min-w-0 flex-col gap-3 overflow-hidden p-4">
      <div className="flex flex-wrap items-center gap-2">
        {other !== undefined && (
          <Select
            aria-label={`${PLACES[place]} assistant`}
            className="max-w-60"
            value={other}
            onChange={({ target }) => choose({ with: target.value, against: undefined })}
            options={assistants.map((each) => [each.assistant_id, assistantName(each)] as const)}
          />
        )}
        <Select
          aria-label={`${PLACES[place]} version`}
          value={String(version.version)}
          onChange={({ target }) => choose({ [place === 0 ? 'against' : 'version']: target.value })}
          options={all.map(({ version: number }) => [String(number), `Version ${number}`] as const)}
        />
      </div>
      {thread === undefined ? (
        <p className="text-ink-3">The answer will appear here.</p>
      ) : (
        <Tried
          key={thread}
          label={`Answer of the ${PLACES[place]?.toLowerCase()} version`}
          graph_id={version.graph_id}
          thread_id={thread}
        />
      )}
    </Card>
  );
}

function useVersions(assistant_id: string) {
  return useQuery(versionsQuery(assistant_id));
}

function find(versions: readonly Version[], number: string | number | undefined): Version | undefined {
  return versions.find(({ version }) => String(version) === String(number));
}

/** A link to the two runs step by step. */
function CompareTried({ threads }: { threads: readonly string[] }) {
  const runs = useQueries({ queries: threads.map((thread_id) => runsOfThreadQuery(thread_id)) });
  const [left, right] = runs.map(({ data }) => data?.[0]?.run_id);
  if (left === undefined || right === undefined) return null;
  return (
    <Link to="/compare" search={{ left, right }} className={`self-center ${buttonClass()}`}>
      Compare step by step
    </Link>
  );
}
