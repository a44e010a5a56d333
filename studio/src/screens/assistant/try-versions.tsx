import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type Assistant, assistantName, schemasQuery } from '../../api/assistants.ts';
import { api, dataOf } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { startRun } from '../../api/start-run.ts';
import { newId } from '../../api/values.ts';
import { Select } from '../../ui/fields.tsx';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { ChatInput } from '../chat/chat-input.tsx';
import { assistantQuery, versionsQuery } from './assistant-queries.ts';
import { Tried } from './tried.tsx';
import { settingsOf, type Version } from './version.ts';

const PLACES = ['Left', 'Right'] as const;

/** Runs two versions on the same input side by side. The versions and their threads are in the address. */
export function TryVersions({ assistant }: { assistant: Assistant }) {
  const { version, against, tried } = useSearch({ from: '/assistants/$assistantId' });
  const versions = useQuery(versionsQuery(assistant.assistant_id));
  const navigate = useNavigate({ from: '/assistants/$assistantId' });
  if (versions.error) return <Failure error={versions.error} retry={() => void versions.refetch()} />;
  if (!versions.data) return <Loading what="versions" />;
  const all = versions.data;
  const find = (number: string | number | undefined) =>
    all.find((each) => String(each.version) === String(number));
  const right = find(version) ?? find(assistant.version) ?? all[0];
  if (!right) return null;
  const left = find(against) ?? find(right.version - 1) ?? right;
  const sides = [left, right];
  const threads = tried?.split(',') ?? [];
  /** A newly selected version has no answer yet. */
  const choose = (place: 'version' | 'against', chosen: string) =>
    void navigate({
      search: ({ tried: _, ...before }) => ({
        ...before,
        version: String(right.version),
        against: String(left.version),
        [place]: chosen,
      }),
      replace: true,
    });
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 max-lg:flex-none">
      <div className="grid min-h-0 flex-1 gap-4 max-lg:auto-rows-[360px] lg:grid-cols-2 lg:grid-rows-[minmax(0,1fr)]">
        {sides.map((side, i) => (
          <Card key={PLACES[i]} className="flex min-h-0 min-w-0 flex-col gap-3 overflow-hidden p-4">
            <Select
              aria-label={`${PLACES[i]} version`}
              className="self-start"
              value={String(side.version)}
              onChange={({ target }) => choose(i === 0 ? 'against' : 'version', target.value)}
              options={all.map(({ version: number }) => [String(number), `Version ${number}`] as const)}
            />
            {threads[i] === undefined ? (
              <p className="text-ink-3">The answer will appear here.</p>
            ) : (
              <Tried
                key={threads[i]}
                label={`Answer of the ${PLACES[i]?.toLowerCase()} version`}
                graph_id={side.graph_id}
                thread_id={threads[i]}
              />
            )}
          </Card>
        ))}
      </div>
      <Input
        assistant={assistant}
        sides={sides}
        onStarted={(ids) =>
          void navigate({
            search: (before) => ({
              ...before,
              version: String(right.version),
              against: String(left.version),
              tried: ids.join(','),
            }),
            replace: true,
          })
        }
      />
    </div>
  );
}

interface InputProps {
  readonly assistant: Assistant;
  readonly sides: readonly Version[];
  /** Receives the ids of the new threads. */
  readonly onStarted: (thread_ids: readonly string[]) => void;
}

interface Start {
  readonly input: unknown;
  readonly onRefused?: () => void;
}

/** One input for both versions, each on a new thread. */
function Input({ assistant, sides, onStarted }: InputProps) {
  const { assistant_id } = assistant;
  const { can } = useSession();
  const { data: schemas, error } = useQuery(schemasQuery(assistant_id));
  const own = useQueries({ queries: sides.map(({ graph_id }) => assistantQuery(graph_id)) });
  const name = assistantName(assistant);
  const start = useMutation({
    mutationFn: ({ input }: Start) => Promise.all(sides.map((side) => startWith(side, name, input))),
    onError: (_error, { onRefused }) => onRefused?.(),
  });
  if (error) return <Failure error={error} />;
  if (!schemas || !can('run')) return null;
  const leaks = sides.flatMap((side, i) => settingsOf(side, own[i]?.data).leaks);
  return (
    <>
      {leaks.length > 0 && (
        <p className="text-xs text-ink-2">
          These settings of the graph’s own assistant apply as well: {[...new Set(leaks)].join(', ')}.
        </p>
      )}
      {start.error && (
        <p role="alert" className="break-words text-err">
          {start.error.message}
        </p>
      )}
      <ChatInput
        assistant_id={assistant_id}
        place={`versions of ${assistant_id}`}
        name={name}
        said={[]}
        schema={schemas.input_schema}
        isDisabled={start.isPending}
        onStop={undefined}
        // Options of the call: threads created late must not end up in the address of another assistant.
        onMessage={(message, onRefused) =>
          start.mutate({ input: { messages: [message] }, onRefused }, { onSuccess: onStarted })
        }
        onInput={(input) => start.mutate({ input }, { onSuccess: onStarted })}
      />
    </>
  );
}

/** Starts a run with the settings of a version. Resolves to the id of its thread. */
async function startWith(side: Version, name: string, input: unknown): Promise<string> {
  const thread_id = newId();
  const metadata = { title: `${name}, version ${side.version}` };
  await dataOf(api.POST('/threads', { body: { thread_id, metadata } }));
  const { run } = settingsOf(side);
  await startRun(thread_id, { ...run, input });
  return thread_id;
}
