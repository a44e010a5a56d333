import { useQuery } from '@tanstack/react-query';
import { Button } from '../../ui/button.tsx';
import { Ago } from '../../ui/format.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { Card } from '../../ui/page.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { Loading } from '../../ui/states.tsx';
import { questionOf } from '../interrupts/review.ts';
import { answerQuery } from './answers-query.ts';
import type { Linked } from './inbox-query.ts';

interface AnsweredProps {
  readonly question: Linked;
  readonly onDone: () => void;
}

/** Shown in place of a question that someone else has answered: by whom, and with which run. */
export function Answered({ question, onDone }: AnsweredProps) {
  const { data: answer, isPending } = useQuery(answerQuery(question));
  return (
    <Card className="flex max-w-[760px] min-w-0 flex-col items-start gap-3 self-start p-4">
      <h2 className="font-semibold break-words">
        {question.since === undefined
          ? 'This question'
          : question.value === undefined
            ? 'Long question'
            : questionOf(question.value)}
      </h2>
      {isPending ? (
        <Loading what="who answered" />
      ) : (
        <p role="status" className="text-ink-2">
          {answer ? (
            <>
              <bdi>{answer.user_id ?? 'Someone else'}</bdi> answered this in the meantime, with the run{' '}
              <RunLink run={answer} /> · <Ago at={answer.created_at} />
            </>
          ) : (
            'This question is no longer open: its thread was changed or deleted in the meantime.'
          )}
        </p>
      )}
      <Button look="primary" onClick={onDone}>
        Continue <KeyHint>J</KeyHint>
      </Button>
    </Card>
  );
}
