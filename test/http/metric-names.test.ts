import type { Metric } from 'prom-client';
import { expect, test } from 'vitest';
import { ALIASES } from '../../src/http/metrics/aliases.ts';
import { openMeters } from '../../src/http/metrics/meters.ts';
import { httpMetrics } from '../../src/http/metrics/metrics.ts';
import { bareServer, ENGINE, PROCESS } from '../support/bare-server.ts';
import { samplesOf } from '../support/metric-samples.ts';

/** Every metric as one line: name, type, labels and help, which has the unit where the name lacks it. */
function linesOf(options: { prefix: string; internal: boolean }): string[] {
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
  const always = linesOf({ prefix: 'lg_api_', internal: false });
  const internal = linesOf({ prefix: 'lg_api_', internal: true }).filter((line) => !always.includes(line));
  const former = Object.entries(ALIASES).map(([now, was]) => `${was} is now ${now}`);
  const text = ['# Always', ...always, '', '# Internal', ...internal, '', '# Former names', ...former, ''];
  await expect(text.join('\n')).toMatchFileSnapshot('./metric-names.txt');
});

test('no prefix makes two metric names equal', () => {
  for (const prefix of ['agent_server_', 'nodejs_', 'process_'])
    expect(() => linesOf({ prefix, internal: true })).not.toThrow();
});

test('a deprecated metric name has the values of the present one, and its help text says so', async () => {
  await using http = await bareServer({
    engine: { hosts: () => [HOST, { ...HOST, number: 2, ready: false }] },
  });
  const lines = (await http.inject('/metrics')).body.split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '# HELP lg_api_host_ready Deprecated: now agent_server_host_ready.',
      '# TYPE lg_api_host_ready gauge',
      'lg_api_host_ready{host="1"} 1',
      'lg_api_host_ready{host="2"} 0',
      'agent_server_host_ready{host="2"} 0',
      '# TYPE lg_api_run_duration_seconds histogram',
    ]),
  );
  const names = new Set(lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []));
  for (const [now, was] of Object.entries(ALIASES)) {
    expect(names).toContain(now);
    expect(names).toContain(was);
  }
});

test('an alias of a histogram has all of its time series', async () => {
  await using http = await bareServer({
    engine: {
      onRunEnded: (listener) => listener({ graph_id: 'g', status: 'success', ms: 70, queue_ms: 1 }),
    },
  });
  const samples = samplesOf((await http.inject('/metrics')).body);
  const of = (prefix: string) =>
    samples
      .filter(({ name }) => name.startsWith(`${prefix}run_duration_seconds`))
      .map(({ name, ...rest }) => ({ name: name.slice(prefix.length), ...rest }));

  expect(of('agent_server_').length).toBeGreaterThan(10);
  expect(of('lg_api_')).toEqual(of('agent_server_'));
});

const HOST = {
  number: 1,
  pid: 7,
  ready: true,
  active: 2,
  n_runs: 5,
  blocked_ms: 0,
  memory_bytes: 1024,
  restarts: 0,
};
