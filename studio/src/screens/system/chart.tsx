import { Card } from '../../ui/page.tsx';
import { GAP_MS } from './samples.ts';

interface Line {
  readonly name: string;
  /** `null` if unknown. */
  readonly values: readonly (number | null)[];
  /** Colour: a class that sets `color`. */
  readonly tone: string;
}

interface ChartProps {
  readonly title: string;
  /** Times of the values, epoch ms. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
}

const WIDTH = 300;
const HEIGHT = 64;

/** Line chart over time, with the current values. */
export function Chart({ title, times, lines, format }: ChartProps) {
  const top = Math.max(...lines.flatMap(({ values }) => values.map((value) => value ?? 0)), Number.MIN_VALUE);
  const lastOf = (values: Line['values']) => {
    const last = values.at(-1);
    return last === null ? 'unknown' : format(last ?? 0);
  };
  const now = lines.map(({ name, values }) => `${name} ${lastOf(values)}`).join(', ');
  return (
    <Card className="flex flex-col gap-2 p-4">
      <h2 className="text-xs font-semibold text-ink-2">{title}</h2>
      <ul className="flex flex-wrap gap-x-5">
        {lines.map(({ name, values, tone }) => (
          <li key={name}>
            <span className={`mr-1.5 inline-block size-2 rounded-sm bg-current ${tone}`} aria-hidden="true" />
            <b className="text-base font-semibold">{lastOf(values)}</b>{' '}
            <span className="text-ink-3">{name}</span>
          </li>
        ))}
      </ul>
      <svg
        role="img"
        aria-label={`${title}: now ${now}; at most ${format(top)}`}
        viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
        className="h-16 w-full"
      >
        <path d={`M0 ${HEIGHT}H${WIDTH}`} className="stroke-line" vectorEffect="non-scaling-stroke" />
        {lines.map(({ name, values, tone }) => (
          <path
            key={name}
            d={pathOf(times, values, top)}
            fill="none"
            stroke="currentColor"
            strokeWidth={1.5}
            strokeLinejoin="round"
            vectorEffect="non-scaling-stroke"
            className={tone}
          />
        ))}
      </svg>
    </Card>
  );
}

/** The newest value is at the right edge. A single value is a level line, and unmeasured intervals are gaps. */
function pathOf(times: readonly number[], values: Line['values'], top: number): string {
  const yOf = (value: number) => (HEIGHT - (HEIGHT * value) / top).toFixed(1);
  const first = times[0] ?? 0;
  const span = (times.at(-1) ?? 0) - first;
  if (span === 0) return values[0] == null ? '' : `M0 ${yOf(values[0])}H${WIDTH}`;
  let joined_at = Number.NEGATIVE_INFINITY;
  return values
    .map((value, i) => {
      const at = times[i] as number;
      if (value === null) return '';
      const isJoined = at - joined_at <= GAP_MS;
      joined_at = at;
      return `${isJoined ? 'L' : 'M'}${((WIDTH * (at - first)) / span).toFixed(1)} ${yOf(value)}`;
    })
    .join('');
}
