import type { Rail } from './lanes.ts';

export const ROW_HEIGHT = 52;
const LANE_WIDTH = 14;
/** Maximum number of lanes. Further branches share the last one. */
const MAX_LANES = 6;

export type DotTone = 'text-ink-3' | 'text-accent' | 'text-wait';

/** Width of the rail drawing, px. */
export function railWidth(rails: readonly Rail[]): number {
  const most = rails.reduce((max, { lane, passing }) => Math.max(max, lane, ...passing), 0);
  return centre(most) + 18;
}

interface RailDrawingProps {
  readonly rail: Rail;
  readonly tone: DotTone;
  readonly width: number;
  readonly isFilled: boolean;
}

/** Draws the dot of a checkpoint and the lines of its branches. */
export function RailDrawing({ rail, tone, width, isFilled }: RailDrawingProps) {
  const { lane, passing, from, hasParent } = rail;
  const x = centre(lane);
  const middle = ROW_HEIGHT / 2;
  return (
    <svg aria-hidden="true" width={width} height={ROW_HEIGHT} className="flex-none">
      <g className="stroke-line-strong" strokeWidth="1.5" fill="none">
        {passing.map((each) => (
          <path key={each} d={`M${centre(each)} 0V${ROW_HEIGHT}`} />
        ))}
        {from.map((each) => (
          <path key={each} d={`M${centre(each)} 0C${centre(each)} ${middle} ${x} 6 ${x} ${middle}`} />
        ))}
        {hasParent && <path d={`M${x} ${middle}V${ROW_HEIGHT}`} />}
      </g>
      <circle
        cx={x}
        cy={middle}
        r="5"
        strokeWidth="2"
        className={`stroke-current ${isFilled ? 'fill-current' : 'fill-panel'} ${tone}`}
      />
    </svg>
  );
}

function centre(lane: number): number {
  return 18 + LANE_WIDTH * Math.min(lane, MAX_LANES);
}
