import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Button } from '../../ui/button.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { Page } from '../../ui/page.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { useMore } from '../../ui/use-more.ts';
import { useAnswers } from '../interrupts/answer.ts';
import { Answered } from './answered.tsx';
import { Bulk } from './bulk.tsx';
import { InboxList } from './inbox-list.tsx';
import { interruptsQuery, keyOf, type Waiting } from './inbox-query.ts';
import { Question } from './question.tsx';
import { type Pages, useSelection } from './selection.ts';

/** All that waits for a person, answered without leaving the keyboard. */
export function Inbox() {
  const { assistant } = useSearch({ from: '/inbox' });
  const pages = useInfiniteQuery(interruptsQuery(assistant));
  const { data, error, refetch, hasNextPage } = pages;
  const { isLoading, loadMore } = useMore(pages);
  const waiting = data?.pages.flatMap((page) => page.data);
  return (
    <Page title="Inbox" actions={<Filter assistant={assistant} />}>
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !waiting ? (
        <Loading what="what waits" />
      ) : (
        <Answering key={assistant} waiting={waiting} pages={pages} />
      )}
      {hasNextPage && (
        <Button className="self-start" disabled={isLoading} onClick={loadMore}>
          Show more
        </Button>
      )}
    </Page>
  );
}

function Filter({ assistant = '' }: { assistant?: string | undefined }) {
  const navigate = useNavigate({ from: '/inbox' });
  return (
    <AssistantSelect
      aria-label="Assistant"
      value={assistant}
      onChange={({ target }) =>
        void navigate({ search: target.value === '' ? {} : { assistant: target.value }, replace: true })
      }
    />
  );
}

/** The list, and the question that is selected in it; or what is done with all that are marked. */
function Answering({ waiting, pages }: { waiting: readonly Waiting[]; pages: Pages }) {
  const answers = useAnswers();
  const [marks, setMarks] = useState<ReadonlySet<string>>(new Set());
  const [answered, setAnswered] = useState(0);
  const { selected, gone, isLookedUp, select, dismiss } = useSelection(waiting, answers, pages);
  const marked = waiting.filter((each) => marks.has(keyOf(each)));
  const toggle = (key: string) =>
    setMarks(
      (before) => new Set(before.has(key) ? [...before].filter((each) => each !== key) : [...before, key]),
    );
  useShortcuts({
    j: () => select(1),
    k: () => select(-1),
    x: selected && (() => toggle(keyOf(selected))),
  });
  if (waiting.length === 0 && !gone && !isLookedUp) {
    return <Empty title="Nobody waits for you">When an agent asks something, it is answered here.</Empty>;
  }
  return (
    <>
      <p className="flex flex-wrap gap-x-4 text-xs text-ink-2 pointer-coarse:hidden">
        <span>
          <KeyHint>J</KeyHint> <KeyHint>K</KeyHint> move
        </span>
        <span>
          <KeyHint>X</KeyHint> mark several
        </span>
        <span>
          <KeyHint>Esc</KeyHint> leave a field
        </span>
      </p>
      <div className="grid min-h-0 flex-1 content-start gap-4 lg:grid-cols-[340px_1fr]">
        <InboxList waiting={waiting} selected={selected} marks={marks} onToggle={toggle} />
        {marked.length > 0 ? (
          <Bulk marked={marked} answers={answers} onDone={() => setMarks(new Set())} />
        ) : gone ? (
          <Answered key={keyOf(gone)} question={gone} onDone={dismiss} />
        ) : isLookedUp ? (
          <Loading what="the question" />
        ) : (
          selected && (
            <Question
              // A task that asks again has the same id.
              key={`${keyOf(selected)} ${answered}`}
              waiting={selected}
              hasKeys
              answers={answers}
              onAnswered={() => setAnswered((count) => count + 1)}
            />
          )
        )}
      </div>
    </>
  );
}
