import { useQuery } from '@tanstack/react-query';
import { isObject } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { Ago } from '../../ui/format.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { Card } from '../../ui/page.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { Loading } from '../../ui/states.tsx';
import { questionOf } from '../interrupts/review.ts';
import { answerQuery, type Linked } from './inbox-query.ts';

interface AnsweredProps {
  readonly question: Linked;
  readonly onDone: () => void;
}

/** A question that somebody else has answered while it was open here, or before its link was: who, and with which run. */
export function Answered({ question, onDone }: AnsweredProps) {
  const { data: run, isPending } = useQuery(answerQuery(question));
  return (
    <Card className="flex max-w-[760px] min-w-0 flex-col items-start gap-3 self-start p-4">
      <h2 className="font-semibold break-words">
        {question.since === undefined
          ? 'The question of this link'
          : question.value === undefined
            ? 'A long question'
            : questionOf(question.value)}
      </h2>
      {isPending ? (
        <Loading what="who answered" />
      ) : (
        <p role="status" className="text-ink-2">
          {run ? (
            <>
              <bdi>{userOf(run.kwargs) ?? 'Somebody else'}</bdi> has answered this meanwhile, with the run{' '}
              <RunLink run={run} /> · <Ago at={run.created_at} />
            </>
          ) : (
            'This no longer waits: its thread was changed or deleted meanwhile.'
          )}
        </p>
      )}
      <Button look="primary" onClick={onDone}>
        Go on <KeyHint>J</KeyHint>
      </Button>
    </Card>
  );
}

/** Who sent a run; undefined where the server knows no users. */
function userOf(kwargs: unknown): string | undefined {
  const { config } = isObject(kwargs) ? kwargs : {};
  const { configurable } = isObject(config) ? config : {};
  const { langgraph_auth_user_id: user } = isObject(configurable) ? configurable : {};
  return typeof user === 'string' && user !== '' ? user : undefined;
}
