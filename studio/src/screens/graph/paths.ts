import type { ElkPoint } from 'elkjs/lib/elk-api.js';

const RADIUS = 8;

/** A polyline with rounded corners. */
export function roundedPath(points: readonly ElkPoint[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (!first || !last) return '';
  let path = `M${at(first)}`;
  for (let i = 1; i < points.length - 1; i++) {
    const [before, corner, after] = points.slice(i - 1, i + 2) as [ElkPoint, ElkPoint, ElkPoint];
    path += `L${at(towards(corner, before))}Q${at(corner)} ${at(towards(corner, after))}`;
  }
  return `${path}L${at(last)}`;
}

/** The point before `corner` where its rounding begins. */
function towards(corner: ElkPoint, other: ElkPoint): ElkPoint {
  const [dx, dy] = [other.x - corner.x, other.y - corner.y];
  const length = Math.hypot(dx, dy) || 1;
  const part = Math.min(RADIUS, length / 2) / length;
  return { x: corner.x + dx * part, y: corner.y + dy * part };
}

function at({ x, y }: ElkPoint): string {
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
}
