import type { Figure, Result } from './figures.ts';

/** The figures as lines of text, each aim beside its figure. */
export function table({ title, figures }: Result): string {
  const width = Math.max(...figures.map(({ what }) => what.length));
  const lines = figures.map(
    (figure) => `  ${figure.what.padEnd(width)}  ${amount(figure)}  ${verdict(figure)}`,
  );
  return [title, ...lines.map((line) => line.trimEnd()), ''].join('\n');
}

function amount({ value, unit }: Figure): string {
  return `${digits(value).padStart(9)} ${unit.padEnd(8)}`;
}

function verdict({ value, unit, aim }: Figure): string {
  if (aim === undefined) return '';
  return `aim ≤ ${aim} ${unit}: ${value <= aim ? 'met' : 'missed'}`;
}

/** Three significant digits say all that a measurement of this kind knows. */
function digits(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
