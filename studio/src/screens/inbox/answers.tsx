import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isObject } from '../../api/values.ts';
import { Ago, shortId } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { questionOf } from '../interrupts/review.ts';
import { type Answer, answersQuery } from './answers-query.ts';
import type { InboxFilters } from './inbox-query.ts';

const COLUMNS = ['Question', 'Answer', 'By', 'When', 'Run'];

/** Who answered what, when and with which run. Newest first. */
export function Answers({ filters }: { filters: Pick<InboxFilters, 'assistant' | 'owner'> }) {
  const empty = (
    <EmptyList filters={filters} fits="No matching answers" none="No answers yet">
      Answers from Studio and from every API are listed here.
    </EmptyList>
  );
  const query = useInfiniteQuery(answersQuery(filters));
  return (
    <PagedList query={query} what="answers" more="Show older answers" empty={empty}>
      {(answers) => (
        <Table label="Answers" columns={COLUMNS}>
          {answers.map((answer) => (
            <AnswerRows key={`${answer.run_id} ${answer.interrupt_id}`} answer={answer} />
          ))}
        </Table>
      )}
    </PagedList>
  );
}

/** An answer on one line. Opened, it shows the whole question and answer. */
function AnswerRows({ answer }: { answer: Answer }) {
  const [isOpen, setOpen] = useState(false);
  const { thread_id, created_at } = answer;
  return (
    <>
      <Row>
        <Cell className="max-w-[36ch]">
          <button
            type="button"
            className="block max-w-full truncate text-left font-medium hover:text-accent"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {askedOf(answer)}
          </button>
        </Cell>
        <Cell className="max-w-[32ch] truncate">{givenOf(answer)}</Cell>
        <Cell className="max-w-[20ch] truncate whitespace-nowrap">
          <By answer={answer} />
        </Cell>
        <Cell className="whitespace-nowrap text-ink-2">
          <Ago at={created_at} />
        </Cell>
        <Cell className="whitespace-nowrap">
          <RunLink run={answer} />
        </Cell>
      </Row>
      {isOpen && (
        <Row>
          <Cell colSpan={COLUMNS.length}>
            {/* Sticky, so that it stays visible when a narrow screen scrolls the table. */}
            <div className="grid gap-3 py-2 max-md:sticky max-md:left-3 max-md:w-[calc(100vw-66px)] md:grid-cols-2">
              <Part title="Asked" value={answer.value} bytes={answer.value_bytes} />
              <Part title="Answered" value={answer.answer} bytes={answer.answer_bytes} />
              <Link to="/threads/$threadId" params={{ threadId: thread_id }} className="w-fit text-accent">
                Open thread
              </Link>
            </div>
          </Cell>
        </Row>
      )}
    </>
  );
}

function Part({ title, value, bytes }: { title: string; value: unknown; bytes: number }) {
  return (
    <section className="flex min-w-0 flex-col gap-1">
      <h2 className="text-xs text-ink-2">{title}</h2>
      {value === undefined ? (
        <p>{Math.ceil(bytes / 1024)} kB, which only the thread and the run have.</p>
      ) : (
        <Json value={value} label={title} />
      )}
    </section>
  );
}

/** Who answered, as far as the server knows: a user, or a key. */
function By({ answer: { user_id, key_id } }: { answer: Answer }) {
  if (user_id !== null) return <bdi>{user_id}</bdi>;
  return <span className="text-ink-2">{key_id === null ? 'Unknown' : `Key ${shortId(key_id)}`}</span>;
}

const askedOf = ({ value }: Answer): string =>
  value === undefined ? 'Long question' : questionOf(value) || 'Question';

/** The decisions, or else the answer itself, as short text. */
function givenOf({ answer }: Answer): string {
  if (answer === undefined) return 'Long answer';
  if (answer === null) return 'Continue';
  if (typeof answer === 'string') return answer;
  const decisions = isObject(answer) ? answer['decisions'] : answer;
  const types = Array.isArray(decisions)
    ? decisions.map((each) => (isObject(each) ? each['type'] : each))
    : [];
  const isDecided = types.length > 0 && types.every((type) => typeof type === 'string');
  return isDecided ? types.join(', ') : JSON.stringify(answer);
}
