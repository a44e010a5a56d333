import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { type Assistant, assistantName, schemasQuery } from '../../api/assistants.ts';
import { api, dataOf } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { startRun } from '../../api/start-run.ts';
import { newId } from '../../api/values.ts';
import { Failure } from '../../ui/states.tsx';
import { ChatInput } from '../chat/chat-input.tsx';
import { assistantQuery } from './assistant-queries.ts';
import { settingsOf, type Version } from './version.ts';

/** A version of an assistant. */
export interface TriedSide {
  readonly assistant: Pick<Assistant, 'name' | 'graph_id'>;
  readonly version: Version;
}

interface InputProps {
  /** Whose input is asked for. */
  readonly assistant: Assistant;
  readonly sides: readonly TriedSide[];
  /** Receives the ids of the new threads. */
  readonly onStarted: (thread_ids: readonly string[]) => void;
}

interface Start {
  readonly input: unknown;
  readonly onRefused?: () => void;
}

/** One input for both sides, each on a new thread. */
export function TryInput({ assistant, sides, onStarted }: InputProps) {
  const { assistant_id } = assistant;
  const { can } = useSession();
  const { data: schemas, error } = useQuery(schemasQuery(assistant_id));
  const own = useQueries({ queries: sides.map(({ version }) => assistantQuery(version.graph_id)) });
  const start = useMutation({
    mutationFn: ({ input }: Start) => Promise.all(sides.map((side) => startWith(side, input))),
    onError: (_error, { onRefused }) => onRefused?.(),
  });
  if (error) return <Failure error={error} />;
  if (!schemas || !can('run')) return null;
  const leaks = sides.flatMap((side, i) => settingsOf(side.version, own[i]?.data).leaks);
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
        name={assistantName(assistant)}
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
async function startWith({ assistant, version }: TriedSide, input: unknown): Promise<string> {
  const thread_id = newId();
  const metadata = { title: `${assistantName(assistant)}, version ${version.version}` };
  await dataOf(api.POST('/threads', { body: { thread_id, metadata } }));
  const { run } = settingsOf(version);
  await startRun(thread_id, { ...run, input });
  return thread_id;
}
