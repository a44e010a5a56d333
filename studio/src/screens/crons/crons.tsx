import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
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
  const navigate = useNavigate({ from: '/crons' });
  const set = (change: CronFilters) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <form role="search" className="flex flex-wrap gap-2">
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
    </form>
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
        <Table
          label="Crons"
          columns={['Schedule', 'State', 'Assistant', 'Next (cron time zone)', `Next (${LOCAL_ZONE})`]}
        >
          {crons.map((cron) => (
            <CronRow key={cron.cron_id} cron={cron} />
          ))}
        </Table>
      )}
    </PagedList>
  );
}

function CronRow({ cron }: { cron: ListedCron }) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistants.find(({ assistant_id }) => assistant_id === cron.assistant_id);
  const zone = cron.timezone ?? 'UTC';
  const next = cron.next_run_date === null ? undefined : Date.parse(cron.next_run_date);
  return (
    <Row>
      <Cell className="whitespace-nowrap">
        <Link
          to="/crons/$cronId"
          params={{ cronId: cron.cron_id }}
          className="font-mono text-xs font-medium hover:text-accent"
        >
          {cron.schedule}
        </Link>
      </Cell>
      <Cell>
        <CronPill cron={cron} />
      </Cell>
      <Cell className="whitespace-nowrap">{assistant ? assistantName(assistant) : cron.assistant_id}</Cell>
      <Cell className="whitespace-nowrap">
        {next !== undefined && (
          <>
            {timeIn(next, zone)} <span className="text-ink-3">{zone}</span>
          </>
        )}
      </Cell>
      <Cell className="whitespace-nowrap text-ink-2">{next !== undefined && timeIn(next, LOCAL_ZONE)}</Cell>
    </Row>
  );
}
