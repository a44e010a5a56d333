import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../ui/button.tsx';
import { count, duration } from '../../ui/format.tsx';
import { Pill, StatusPill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { Conversation } from '../chat/conversation.tsx';
import { useChat } from '../chat/use-chat.ts';
import { explanationQuery, stepsQuery } from '../run/run-queries.ts';
import { usedBy } from '../run/used.ts';

interface TriedProps {
  readonly label: string;
  readonly graph_id: string;
  readonly thread_id: string;
}

/** The streamed answer of a version, with its duration and tokens. */
export function Tried({ label, graph_id, thread_id }: TriedProps) {
  const chat = useChat({
    assistant_id: graph_id,
    thread_id,
    at: undefined,
    isStreamed: true,
    onRun: () => {},
  });
  const { data: state, error, refetch } = chat.state;
  const run = chat.active ?? chat.last_run;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!state) return <Loading what="the answer" />;
  return (
    <section aria-label={label} className="flex min-h-0 flex-1 flex-col gap-3">
      <Conversation
        thread_id={thread_id}
        chat={chat}
        hasMessages={chat.messages.length > 0}
        onEdit={undefined}
        onRegenerate={undefined}
      >
        {chat.error !== undefined && (
          <p role="alert" className="break-words text-err">
            {chat.error}
          </p>
        )}
      </Conversation>
      {run && (
        <footer className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line pt-2 text-ink-2">
          {state.interrupts.length > 0 && !chat.is_busy ? (
            <Pill tone="wait">waiting for you</Pill>
          ) : (
            <StatusPill status={run.status} />
          )}
          <Cost run_id={run.run_id} />
          <Link
            to="/runs/$runId"
            params={{ runId: run.run_id }}
            className={`ml-auto ${buttonClass('quiet')}`}
          >
            Open run
          </Link>
        </footer>
      )}
    </section>
  );
}

function Cost({ run_id }: { run_id: string }) {
  const { data: explanation } = useQuery(explanationQuery(run_id));
  const { data } = useQuery(stepsQuery(run_id));
  const { started_at, ended_at } = explanation ?? {};
  const { tokens } = usedBy(data?.steps ?? []);
  return (
    <>
      {started_at && ended_at && <span>{duration(Date.parse(ended_at) - Date.parse(started_at))}</span>}
      {tokens > 0 && <span>{count(tokens)} tokens</span>}
    </>
  );
}
