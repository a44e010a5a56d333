import type { Metric } from 'prom-client';
import { expect, test } from 'vitest';
import { openMeters } from '../../src/http/metrics/meters.ts';
import { httpMetrics } from '../../src/http/metrics/metrics.ts';
import { ENGINE, PROCESS } from '../support/bare-server.ts';

/** Every metric as one line: name, type, labels and help, which has the unit where the name lacks it. */
function linesOf(options: { prefix: string }): string[] {
  const meters = openMeters(options);
  const engine = { ...ENGINE, traces: () => ({ sent: 0, dropped: 0, waiting: 0 }) };
  httpMetrics(engine, meters, PROCESS).stop();
  const metrics = meters.registry.getMetricsAsArray() as unknown as (Metric & {
    name: string;
    help: string;
    labelNames: string[];
    type: string;
  })[];
  return metrics
    .map(({ name, type, labelNames, help }) => {
      const labels = labelNames.filter((label) => label !== 'le').toSorted();
      return `${name} ${type} {${labels.join(', ')}} ${help}`;
    })
    .toSorted();
}

test('the list of metrics has every name, type, unit and label (vitest -u writes it)', async () => {
  const text = [...linesOf({ prefix: 'lg_api_' }), ''];
  await expect(text.join('\n')).toMatchFileSnapshot('./metric-names.txt');
});

test('no prefix makes two metric names equal', () => {
  for (const prefix of ['agent_server_', 'nodejs_', 'process_'])
    expect(() => linesOf({ prefix })).not.toThrow();
});
