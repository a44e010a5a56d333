import { localTimes } from '../../ui/format.tsx';
import { isTime, type RunFilters, timeBefore } from './runs-query.ts';

type Period = Pick<RunFilters, 'since' | 'until' | 'ended'>;

const NAMES = ['since', 'until', 'ended'] as const;
const ANY_TIME: Period = { since: '', until: '', ended: '' };

const PERIODS: readonly (readonly [value: string, label: string])[] = [
  ['', 'Any time'],
  ['since=1', 'Created in the last hour'],
  ['since=24', 'Created in the last day'],
  ['since=168', 'Created in the last week'],
  ['until=1', 'Created over an hour ago'],
  ['until=24', 'Created over a day ago'],
  ['until=168', 'Created over a week ago'],
  ['ended=1', 'Ended in the last hour'],
  ['ended=24', 'Ended in the last day'],
  ['ended=168', 'Ended in the last week'],
];

/** Options of the period select, and its value. An address may have a period that the select does not offer. */
export function periodOf(filters: Period) {
  const value = NAMES.flatMap((name) => (isSet(name, filters[name]) ? `${name}=${filters[name]}` : [])).join(
    '&',
  );
  const isOffered = PERIODS.some(([each]) => each === value);
  const { ended = '' } = filters;
  const label = isTime(ended) ? `Ended since ${localTimes(ended)}` : 'As in the address';
  return { value, options: isOffered ? PERIODS : [...PERIODS, [value, label] as const] };
}

const isSet = (name: keyof Period, text = '') =>
  timeBefore(text) !== undefined || (name === 'ended' && isTime(text));

/** The filters of an option. */
export function filtersOf(value: string): Period {
  const [name = '', text = ''] = value.split('=');
  return { ...ANY_TIME, ...(text && { [name]: text }) };
}
