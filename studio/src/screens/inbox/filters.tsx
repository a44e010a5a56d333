import { useNavigate } from '@tanstack/react-router';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Select } from '../../ui/fields.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import type { InboxFilters } from './inbox-query.ts';

interface FiltersProps {
  readonly filters: InboxFilters;
  /** Answered questions have no age or deadline filter. */
  readonly isOfAnswers: boolean;
}

/** Filters of the inbox. The selected question may be filtered out. */
export function Filters({ filters, isOfAnswers }: FiltersProps) {
  const navigate = useNavigate({ from: '/inbox' });
  const set = (change: InboxFilters) =>
    void navigate({ search: ({ tab }) => ({ tab, ...filters, ...change }), replace: true });
  return (
    <FilterBar filters={filters}>
      <AssistantSelect
        aria-label="Assistant"
        value={filters.assistant ?? ''}
        onChange={({ target }) => set({ assistant: target.value })}
      />
      {!isOfAnswers && (
        <>
          <Select
            aria-label="Age"
            value={filters.age ?? ''}
            onChange={({ target }) => set({ age: target.value })}
            options={[
              ['', 'Any age'],
              ['1', 'Waiting over an hour'],
              ['24', 'Waiting over a day'],
              ['168', 'Waiting over a week'],
            ]}
          />
          <Select
            aria-label="Deadline"
            value={filters.due ?? ''}
            onChange={({ target }) => set({ due: target.value })}
            options={[
              ['', 'Any deadline'],
              ['0', 'Overdue'],
              ['1', 'Due within an hour'],
              ['24', 'Due within a day'],
              ['168', 'Due within a week'],
            ]}
          />
        </>
      )}
      <TextFilter label="Owner" className="w-56" value={filters.owner} set={(owner) => set({ owner })} />
    </FilterBar>
  );
}
