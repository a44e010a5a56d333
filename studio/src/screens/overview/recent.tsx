import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { keyOf } from '../inbox/inbox-query.ts';
import { questionOf } from '../interrupts/review.ts';
import { RunTable } from '../runs/run-table.tsx';
import { FirstSteps } from './first-steps.tsx';
import { lastRunsQuery, openQuestionsQuery } from './overview-query.ts';

/** The last runs; while there are none, the first steps. */
export function Recent() {
  const { data, error, refetch } = useQuery(lastRunsQuery);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="runs" />;
  if (data.length === 0) return <FirstSteps />;
  return (
    <>
      <OpenQuestions />
      <section aria-labelledby="last-runs" className="flex flex-col gap-2">
        <Heading id="last-runs" to="/runs" all="All runs">
          Last runs
        </Heading>
        <RunTable runs={data} />
      </section>
    </>
  );
}

/** What waits for a person, oldest first. Nothing if nothing does. */
function OpenQuestions() {
  const { data: { data: waiting } = { data: [] } } = useQuery(openQuestionsQuery);
  if (waiting.length === 0) return null;
  return (
    <section aria-labelledby="open-questions" className="flex flex-col gap-2">
      <Heading id="open-questions" to="/inbox" all="Inbox">
        Open questions
      </Heading>
      <Card>
        <ul>
          {waiting.map((each) => (
            <li key={keyOf(each)} className="border-b border-line last:border-0 hover:bg-sunk">
              <Link
                to="/inbox"
                search={{ interrupt: keyOf(each) }}
                className="flex items-center gap-3 px-3 py-1.5"
              >
                <span className="min-w-0 flex-1 truncate font-medium">
                  {each.value === undefined ? 'Long question' : questionOf(each.value)}
                </span>
                <span className="text-ink-2">
                  <Ago at={each.since} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </Card>
    </section>
  );
}

interface HeadingProps {
  readonly id: string;
  readonly to: '/runs' | '/inbox';
  /** Text of the link to all of them. */
  readonly all: string;
  readonly children: string;
}

function Heading({ id, to, all, children }: HeadingProps) {
  return (
    <div className="flex items-baseline gap-3">
      <h2 id={id} className="text-xs font-semibold text-ink-2">
        {children}
      </h2>
      <Link to={to} className="text-xs text-accent hover:underline">
        {all}
      </Link>
    </div>
  );
}
