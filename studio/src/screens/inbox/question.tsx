import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
import { Ago } from '../../ui/format.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { stateQuery } from '../chat/chat-queries.ts';
import { refusalOf, type useAnswers } from '../interrupts/answer.ts';
import { AnswerForm } from '../interrupts/answer-form.tsx';
import { Due } from './due.tsx';
import type { Waiting } from './inbox-query.ts';

interface QuestionProps {
  readonly waiting: Waiting;
  readonly hasKeys: boolean;
  readonly answers: ReturnType<typeof useAnswers>;
  readonly onAnswered: () => void;
}

/** One interrupt and its answer form. */
export function Question({ waiting, hasKeys, answers, onAnswered }: QuestionProps) {
  const { can } = useSession();
  const { thread_id, interrupt_id, assistant_id, since, deadline, response_schema = null } = waiting;
  const isLeftOut = waiting.value === undefined && waiting.value_bytes > 0;
  const state = useQuery({ ...stateQuery(thread_id), enabled: isLeftOut });
  if (state.error) return <Failure error={state.error} retry={() => void state.refetch()} />;
  if (isLeftOut && !state.data) return <Loading what="the question" />;
  const found = state.data?.interrupts.find(({ id }) => id === interrupt_id);
  const value = isLeftOut ? found?.value : waiting.value;
  return (
    <div className="flex max-w-[760px] min-w-0 flex-col gap-2">
      <AnswerForm
        asked={{ id: interrupt_id, value, response_schema }}
        beside={
          <>
            asked <Ago at={since} />
            {deadline !== undefined && (
              <>
                {' · '}
                <Due at={deadline} />
              </>
            )}
          </>
        }
        hasKeys={hasKeys}
        isDisabled={answers.isPending || !can('run') || assistant_id === null}
        error={refusalOf(answers, thread_id, interrupt_id)}
        onAnswer={(answer) =>
          assistant_id !== null &&
          answers.mutate([{ thread_id, assistant_id, answers: { [interrupt_id]: answer } }], {
            onSuccess: onAnswered,
          })
        }
      />
      {assistant_id === null ? (
        <p className="text-ink-2">
          The run of this question was deleted. Answer it from a client, with a run that names the assistant.
        </p>
      ) : (
        <Link
          to="/chat/$assistantId/$threadId"
          params={{ assistantId: assistant_id, threadId: thread_id }}
          className="w-fit text-accent"
        >
          Open conversation
        </Link>
      )}
    </div>
  );
}
