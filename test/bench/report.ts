import type { Measurement, Result } from './measurements.ts';

/** The measurements as lines of text, each aim beside its measurement. */
export function table({ title, measurements }: Result): string {
  const width = Math.max(...measurements.map(({ what }) => what.length));
  const lines = measurements.map(
    (measurement) => `  ${measurement.what.padEnd(width)}  ${amount(measurement)}  ${verdict(measurement)}`,
  );
  return [title, ...lines.map((line) => line.trimEnd()), ''].join('\n');
}

function amount({ value, unit }: Measurement): string {
  return `${digits(value).padStart(9)} ${unit.padEnd(8)}`;
}

function verdict({ value, unit, aim }: Measurement): string {
  if (aim === undefined) return '';
  return `aim ≤ ${aim} ${unit}: ${value <= aim ? 'met' : 'missed'}`;
}

/** Three significant digits say all that a measurement of this kind knows. */
function digits(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
