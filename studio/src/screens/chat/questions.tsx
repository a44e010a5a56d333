import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Ago } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { refusalOf, useAnswers } from '../interrupts/answer.ts';
import { AnswerForm } from '../interrupts/answer-form.tsx';
import { explanationQuery } from '../run/run-queries.ts';
import type { ChatRun } from './chat-queries.ts';
import type { Chat } from './use-chat.ts';

interface QuestionsProps {
  readonly chat: Chat;
  readonly assistant_id: string;
  readonly thread_id: string;
  readonly at: string | undefined;
  readonly onAnswered: () => void;
}

/** What the thread waits for: answers, or a continue after a breakpoint. */
export function Questions({ chat, assistant_id, thread_id, at, onAnswered }: QuestionsProps) {
  const { can } = useSession();
  const answers = useAnswers();
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(new Map());
  const state = chat.state.data;
  if (!state) return null;
  if (state.interrupts.length === 0) {
    return state.next.length > 0 && !hasFailed(chat) ? <Paused chat={chat} next={state.next} /> : null;
  }
  return state.interrupts.map((interrupt, i) => {
    const id = interrupt.id ?? '';
    return (
      <AnswerForm
        // A task that asks again keeps its id.
        key={JSON.stringify([id, counts.get(id), interrupt.value])}
        asked={{ ...interrupt, id }}
        beside={state.created_at && <Ago at={state.created_at} />}
        hasKeys={i === 0}
        isDisabled={answers.isPending || chat.is_busy || !can('run')}
        error={refusalOf(answers, thread_id, id)}
        onAnswer={(value) =>
          answers.mutate([{ thread_id, assistant_id, answers: { [id]: value }, checkpoint_id: at }], {
            onSuccess: () => {
              setCounts((before) => new Map(before).set(id, (before.get(id) ?? 0) + 1));
              onAnswered();
            },
          })
        }
      />
    );
  });
}

function Paused({ chat, next }: { chat: Chat; next: readonly string[] }) {
  const { can } = useSession();
  return (
    <Card className="flex flex-wrap items-center gap-3 p-3">
      <p className="text-ink-2">
        Stopped before <b className="font-medium text-ink">{next.join(', ')}</b>
      </p>
      {can('run') && (
        <Button className="ml-auto" onClick={() => chat.start({ messages: chat.messages })}>
          Continue
        </Button>
      )}
    </Card>
  );
}

/** Why the last run failed, and why the last action was rejected. */
export function Problems({ chat }: { chat: Chat }) {
  const refused = chat.create.error ?? chat.stop_error;
  const run = chat.last_run;
  const failed = !chat.is_busy && hasFailed(chat);
  return (
    <>
      {refused && (
        <p role="alert" className="text-err">
          {refused.message}
        </p>
      )}
      {run && failed && <FailedRun run={run} chat={chat} />}
      {chat.error !== undefined && !failed && (
        <p role="alert" className="break-words text-err">
          {chat.error}
        </p>
      )}
    </>
  );
}

function hasFailed({ last_run }: Chat): boolean {
  return last_run?.status === 'error' || last_run?.status === 'timeout';
}

function FailedRun({ run: { run_id, status }, chat }: { run: ChatRun; chat: Chat }) {
  const { can } = useSession();
  const { data } = useQuery(explanationQuery(run_id));
  return (
    <div role="alert" className="flex flex-wrap items-center gap-x-3 rounded-[10px] border border-err p-3">
      <p className="font-medium text-err">
        {status === 'timeout' ? 'The run timed out' : (data?.error?.error ?? 'The run failed')}
      </p>
      <Link to="/runs/$runId" params={{ runId: run_id }} className={`ml-auto ${buttonClass('quiet')}`}>
        Open run
      </Link>
      {can('run') && <Button onClick={() => chat.start({ messages: chat.messages })}>Try again</Button>}
      <p className="max-h-40 w-full overflow-auto break-words whitespace-pre-wrap">
        {data?.error?.message ?? ''}
      </p>
    </div>
  );
}
