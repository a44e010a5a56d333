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

/** Who answered what, when and with which run, newest first. */
export function Answers({ filters }: { filters: Pick<InboxFilters, 'assistant' | 'owner'> }) {
  const empty = (
    <EmptyList filters={filters} fits="No answer fits" none="Nothing was answered yet">
      What people answer is listed here, through whichever interface it comes.
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

/** An answer in a line; below it, once it is opened, all of what was asked and answered. */
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
            {/* On a narrow screen it stays while the table is scrolled. */}
            <div className="grid gap-3 py-2 max-md:sticky max-md:left-3 max-md:w-[calc(100vw-66px)] md:grid-cols-2">
              <Part title="Asked" value={answer.value} bytes={answer.value_bytes} />
              <Part title="Answered" value={answer.answer} bytes={answer.answer_bytes} />
              <Link to="/threads/$threadId" params={{ threadId: thread_id }} className="w-fit text-accent">
                Open the thread
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

/** Who it was, as far as the server knows: a user, or whoever has the key. */
function By({ answer: { user_id, key_id } }: { answer: Answer }) {
  if (user_id !== null) return <bdi>{user_id}</bdi>;
  return <span className="text-ink-2">{key_id === null ? 'Unknown' : `Key ${shortId(key_id)}`}</span>;
}

const askedOf = ({ value }: Answer): string =>
  value === undefined ? 'A long question' : questionOf(value) || 'Asks for an answer';

/** In few words: what was decided, else the answer itself. */
function givenOf({ answer }: Answer): string {
  if (answer === undefined) return 'A long answer';
  if (answer === null) return 'Go on';
  if (typeof answer === 'string') return answer;
  const decisions = isObject(answer) ? answer['decisions'] : answer;
  const types = Array.isArray(decisions)
    ? decisions.map((each) => (isObject(each) ? each['type'] : each))
    : [];
  const isDecided = types.length > 0 && types.every((type) => typeof type === 'string');
  return isDecided ? types.join(', ') : JSON.stringify(answer);
}
