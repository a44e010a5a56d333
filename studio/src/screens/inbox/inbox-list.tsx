import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { Ago } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { questionOf } from '../interrupts/review.ts';
import { Due } from './due.tsx';
import { keyOf, type Waiting } from './inbox-query.ts';

interface InboxListProps {
  readonly waiting: readonly Waiting[];
  readonly selected: Waiting | undefined;
  readonly marks: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
}

/** Open questions, oldest first. */
export function InboxList({ waiting, selected, marks, onToggle }: InboxListProps) {
  if (waiting.length === 0) return <p className="text-ink-2">No other questions.</p>;
  return (
    <Card className="self-start max-lg:max-h-[38vh] max-lg:overflow-auto">
      <ul aria-label="Waiting">
        {waiting.map((each) => (
          <Row
            key={keyOf(each)}
            waiting={each}
            isSelected={each === selected}
            isMarked={marks.has(keyOf(each))}
            onToggle={onToggle}
          />
        ))}
      </ul>
    </Card>
  );
}

interface RowProps {
  readonly waiting: Waiting;
  readonly isSelected: boolean;
  readonly isMarked: boolean;
  readonly onToggle: (key: string) => void;
}

function Row({ waiting, isSelected, isMarked, onToggle }: RowProps) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistants.find(({ assistant_id }) => assistant_id === waiting.assistant_id);
  const question = waiting.value === undefined ? 'Long question' : questionOf(waiting.value);
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return (
    <li
      ref={row}
      aria-current={isSelected ? 'true' : undefined}
      className={`flex items-center gap-2 border-b border-line px-3 first:rounded-t-[10px] last:rounded-b-[10px] last:border-0 hover:bg-sunk ${isSelected ? 'bg-sunk' : ''}`}
    >
      <input
        type="checkbox"
        aria-label={`Mark ${question}`}
        className="accent-accent"
        checked={isMarked}
        onChange={({ target }) => {
          onToggle(keyOf(waiting));
          // Returns the focus, so that shortcuts act on the list again.
          target.blur();
        }}
      />
      <Link
        to="/inbox"
        search={(before) => ({ ...before, interrupt: keyOf(waiting) })}
        replace
        className="flex min-w-0 flex-1 flex-col py-2"
      >
        <span className="truncate font-medium">{question}</span>
        <span className="flex justify-between gap-2 text-xs text-ink-2">
          <span className="truncate">{assistant ? assistantName(assistant) : 'Deleted run'}</span>
          <span className="flex gap-3">
            {waiting.deadline !== undefined && <Due at={waiting.deadline} />}
            <Ago at={waiting.since} />
          </span>
        </span>
      </Link>
    </li>
  );
}
