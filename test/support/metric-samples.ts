/** A time series of the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** The time series in a text of Prometheus' format. */
export function samplesOf(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^([\w:]+)(\{.*\})? (\S+)$/.exec(line) ?? [];
      return { name, labels, value: Number(value) };
    });
}

/** The sum of a metric's time series whose labels contain this text; `undefined` without any. */
export function sampleValue(text: string, name: string, labels = ''): number | undefined {
  const found = samplesOf(text).filter((sample) => sample.name === name && sample.labels.includes(labels));
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
