import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { type Column, ItemTable, OPENS } from '../../ui/table.tsx';
import { useSearchChange } from '../../ui/use-search-change.ts';
import { CronForm } from './cron-form.tsx';
import { CronPill } from './cron-pill.tsx';
import { type CronFilters, cronsQuery, type ListedCron } from './crons-query.ts';
import { LOCAL_ZONE, timeIn } from './times.tsx';

/** List of crons. */
export function Crons() {
  const filters: CronFilters = useSearch({ from: '/crons' });
  const { can } = useSession();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  return (
    <Page
      title="Crons"
      actions={
        can('run') && (
          <Button look="primary" onClick={() => setOpen(true)}>
            New cron
          </Button>
        )
      }
    >
      <Filters filters={filters} />
      <List filters={filters} />
      <CronForm
        open={isOpen}
        onClose={() => setOpen(false)}
        onSaved={({ cron_id }) => void navigate({ to: '/crons/$cronId', params: { cronId: cron_id } })}
      />
    </Page>
  );
}

function Filters({ filters }: { filters: CronFilters }) {
  const set = useSearchChange<CronFilters>();
  return (
    <FilterBar filters={filters}>
      <Select
        aria-label="State"
        value={filters.enabled ?? ''}
        onChange={({ target }) => set({ enabled: target.value })}
        options={[
          ['', 'Any state'],
          ['yes', 'Scheduled'],
          ['no', 'Paused'],
        ]}
      />
      <AssistantSelect
        aria-label="Assistant"
        value={filters.assistant ?? ''}
        onChange={({ target }) => set({ assistant: target.value })}
      />
    </FilterBar>
  );
}

function List({ filters }: { filters: CronFilters }) {
  const empty = (
    <EmptyList filters={filters} fits="No matching crons" none="No crons yet">
      A cron starts runs of an assistant on a schedule.
    </EmptyList>
  );
  return (
    <PagedList
      query={useInfiniteQuery(cronsQuery(filters))}
      what="crons"
      more="Show more crons"
      empty={empty}
    >
      {(crons) => (
        <ItemTable label="Crons" items={crons} keyOf={({ cron_id }) => cron_id} columns={COLUMNS} />
      )}
    </PagedList>
  );
}

const COLUMNS: readonly Column<ListedCron>[] = [
  {
    name: 'Schedule',
    className: 'whitespace-nowrap',
    cell: ({ cron_id, schedule }) => (
      <Link
        {...OPENS}
        to="/crons/$cronId"
        params={{ cronId: cron_id }}
        className="font-mono text-xs font-medium hover:text-accent"
      >
        {schedule}
      </Link>
    ),
  },
  { name: 'State', cell: (cron) => <CronPill cron={cron} /> },
  {
    name: 'Assistant',
    className: 'whitespace-nowrap',
    cell: ({ assistant_id }) => <AssistantName assistant_id={assistant_id} />,
  },
  {
    name: 'Next (cron time zone)',
    className: 'whitespace-nowrap',
    cell: ({ next_run_date, timezone }) =>
      next_run_date && <In date={next_run_date} zone={timezone ?? 'UTC'} />,
  },
  {
    name: `Next (${LOCAL_ZONE})`,
    className: 'whitespace-nowrap text-ink-2',
    cell: ({ next_run_date }) => next_run_date && timeIn(Date.parse(next_run_date), LOCAL_ZONE),
  },
];

function In({ date, zone }: { date: string; zone: string }) {
  return (
    <>
      {timeIn(Date.parse(date), zone)} <span className="text-ink-3">{zone}</span>
    </>
  );
}

function AssistantName({ assistant_id }: Pick<ListedCron, 'assistant_id'>) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistants.find((each) => each.assistant_id === assistant_id);
  return assistant ? assistantName(assistant) : assistant_id;
}
