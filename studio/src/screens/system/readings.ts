/** Readings of the metrics, by name; those with labels begin at `name{`. */
export type Readings = ReadonlyMap<string, number>;

/** Readings of the text that Prometheus reads. */
export function readingsOf(text: string): Readings {
  const readings = new Map<string, number>();
  for (const line of text.split('\n')) {
    // A label may have spaces; a value has none.
    const end = line.lastIndexOf(' ');
    if (end > 0 && !line.startsWith('#')) readings.set(line.slice(0, end), Number(line.slice(end + 1)));
  }
  return readings;
}

/** The sum of a metric over its labels that contain `having`; undefined if it is not measured. */
export function total(readings: Readings, metric: string, having = ''): number | undefined {
  const values = [...readings].filter(
    ([name]) => name === metric || (name.startsWith(`${metric}{`) && name.includes(having)),
  );
  return values.length === 0 ? undefined : values.reduce((sum, [, value]) => sum + value, 0);
}

/** Values of a label, over all readings of a metric. */
export function labels(readings: Readings, metric: string, label: string): string[] {
  const names = [...readings.keys()].filter((name) => name.startsWith(`${metric}{`));
  return names.flatMap((name) => name.split(`${label}="`)[1]?.split('"')[0] ?? []);
}
