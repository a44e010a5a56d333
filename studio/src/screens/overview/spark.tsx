import { Card } from '../../ui/page.tsx';

interface SparkProps {
  readonly title: string;
  /** The figure in words, such as `1,204`. */
  readonly value: string;
  /** What the figure and the bars are about. */
  readonly note: string;
  /** Oldest first; `null` if unknown. */
  readonly values: readonly (number | null)[];
  /** Description of one bar. */
  readonly describe: (index: number) => string;
  /** Colour of the bars: a class that sets `color`. */
  readonly tone: string;
}

const HEIGHT = 36;
const STEP = 10;
const BAR = 8;
/** A bar that is not zero can be seen. */
const MIN_HEIGHT = 2;

/** A figure with a bar for each interval. */
export function Spark({ title, value, note, values, describe, tone }: SparkProps) {
  const top = Math.max(...values.map((each) => each ?? 0), Number.MIN_VALUE);
  const heightOf = (each: number | null) => (each ? Math.max(MIN_HEIGHT, (HEIGHT * each) / top) : 0);
  return (
    <Card className="flex min-w-0 flex-col gap-2 p-4">
      <h2 className="text-xs font-semibold text-ink-2">{title}</h2>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <b className="text-lg font-semibold">{value}</b> <span className="text-ink-3">{note}</span>
      </p>
      <svg
        role="img"
        aria-label={`${title}: ${value} ${note}`}
        viewBox={`0 0 ${values.length * STEP} ${HEIGHT + 1}`}
        preserveAspectRatio="none"
        className={`mt-auto h-10 w-full ${tone}`}
      >
        <path d={`M0 ${HEIGHT + 0.5}H${values.length * STEP}`} className="stroke-line-strong" />
        {values.map((each, i) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is an interval
            key={i}
            x={i * STEP + (STEP - BAR) / 2}
            y={HEIGHT - heightOf(each)}
            width={BAR}
            height={heightOf(each)}
            fill="currentColor"
          >
            <title>{describe(i)}</title>
          </rect>
        ))}
      </svg>
    </Card>
  );
}
