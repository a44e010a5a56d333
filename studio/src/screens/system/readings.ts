/** Metric values by name. Names with labels start with `name{`. */
export type Readings = ReadonlyMap<string, number>;

/** Parses the Prometheus text format. */
export function readingsOf(text: string): Readings {
  const readings = new Map<string, number>();
  for (const line of text.split('\n')) {
    // Labels can contain spaces, values cannot.
    const end = line.lastIndexOf(' ');
    if (end > 0 && !line.startsWith('#')) readings.set(line.slice(0, end), Number(line.slice(end + 1)));
  }
  return readings;
}

/** Sum of a metric over the label sets that contain `having`. Undefined if it is not measured. */
export function total(readings: Readings, metric: string, having = ''): number | undefined {
  const values = [...readings].filter(
    ([name]) => name === metric || (name.startsWith(`${metric}{`) && name.includes(having)),
  );
  return values.length === 0 ? undefined : values.reduce((sum, [, value]) => sum + value, 0);
}

/** All values of a label of a metric. */
export function labels(readings: Readings, metric: string, label: string): string[] {
  const names = [...readings.keys()].filter((name) => name.startsWith(`${metric}{`));
  return names.flatMap((name) => name.split(`${label}="`)[1]?.split('"')[0] ?? []);
}
