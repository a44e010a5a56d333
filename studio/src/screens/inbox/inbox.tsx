import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { KeyHint } from '../../ui/key-hint.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, NextPage } from '../../ui/paged-list.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { Failure, Loading } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useMore } from '../../ui/use-more.ts';
import { useAnswers } from '../interrupts/answer.ts';
import { SavedViews } from '../saved-views/saved-views.tsx';
import { Answered } from './answered.tsx';
import { Answers } from './answers.tsx';
import { Bulk } from './bulk.tsx';
import { Filters } from './filters.tsx';
import { InboxList } from './inbox-list.tsx';
import { type InboxFilters, interruptsQuery, keyOf, type Waiting } from './inbox-query.ts';
import { Question } from './question.tsx';
import { type Pages, useSelection } from './selection.ts';

/** Open questions and past answers. */
export function Inbox() {
  const { tab, assistant, owner, age, due } = useSearch({ from: '/inbox' });
  const isOfAnswers = tab === 'answered';
  const filters = defined(isOfAnswers ? { assistant, owner } : { assistant, owner, age, due });
  return (
    <Page
      title="Inbox"
      actions={<SavedViews screen="inbox" filters={isOfAnswers ? { ...filters, tab } : { ...filters }} />}
    >
      <Tabs
        tabs={[
          { name: 'waiting', label: 'Waiting' },
          { name: 'answered', label: 'Answered' },
        ]}
        open={isOfAnswers ? 'answered' : 'waiting'}
      />
      <Filters filters={filters} isOfAnswers={isOfAnswers} />
      {isOfAnswers ? <Answers filters={filters} /> : <WaitingList filters={filters} />}
    </Page>
  );
}

function defined(filters: { [Name in keyof InboxFilters]: string | undefined }): InboxFilters {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

/** Open questions, answered by keyboard alone. */
function WaitingList({ filters }: { filters: InboxFilters }) {
  const pages = useInfiniteQuery(interruptsQuery(filters));
  const next = useMore(pages);
  const waiting = pages.data?.pages.flatMap((page) => page.data);
  if (!waiting) {
    return next.error ? <Failure error={next.error} retry={next.retry} /> : <Loading what="questions" />;
  }
  return (
    <>
      <Answering key={JSON.stringify(filters)} filters={filters} waiting={waiting} pages={pages} />
      <NextPage more="Show more" next={next} className="self-start" />
    </>
  );
}

interface AnsweringProps {
  readonly filters: InboxFilters;
  readonly waiting: readonly Waiting[];
  readonly pages: Pages;
}

/** The list with the selected question, or with the actions for marked ones. */
function Answering({ filters, waiting, pages }: AnsweringProps) {
  const answers = useAnswers();
  const [marks, setMarks] = useState<ReadonlySet<string>>(new Set());
  const [answerCounts, setAnswerCounts] = useState<ReadonlyMap<string, number>>(new Map());
  const { selected, gone, isLookedUp, select, dismiss } = useSelection(waiting, answers, pages);
  const marked = waiting.filter((each) => marks.has(keyOf(each)));
  const toggle = (key: string) =>
    setMarks(
      (before) => new Set(before.has(key) ? [...before].filter((each) => each !== key) : [...before, key]),
    );
  const countAnswer = (key: string) =>
    setAnswerCounts((before) => new Map(before).set(key, (before.get(key) ?? 0) + 1));
  useShortcuts({
    j: () => select(1),
    k: () => select(-1),
    x: selected && (() => toggle(keyOf(selected))),
  });
  if (waiting.length === 0 && !gone && !isLookedUp) {
    const fits = pages.hasNextPage ? 'No matches so far' : 'No matching questions';
    return (
      <EmptyList filters={filters} fits={fits} none="All caught up">
        When an agent needs an answer, its question appears here.
      </EmptyList>
    );
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
      <div className="grid min-h-0 flex-1 content-start gap-4 max-lg:flex-none lg:grid-cols-[340px_1fr]">
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
              // A task that asks again keeps its id. Only its own answer resets a form, not one that arrives late for another.
              key={`${keyOf(selected)} ${answerCounts.get(keyOf(selected)) ?? 0}`}
              waiting={selected}
              hasKeys
              answers={answers}
              onAnswered={() => countAnswer(keyOf(selected))}
            />
          )
        )}
      </div>
    </>
  );
}
