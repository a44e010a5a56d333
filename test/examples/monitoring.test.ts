import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { openApp } from '../support/app.ts';
import { metricsIn } from '../support/promql.ts';
import { onlyBlock, ROOT } from './blocks.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGE = read('docs/monitoring.md');
const { groups } = parse(read('deploy/alerts.yaml')) as { groups: { name: string; rules: Rule[] }[] };
const dashboard = JSON.parse(read('deploy/grafana/agent-server.json')) as {
  panels: Panel[];
  templating: { list: { name: string; query: string }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
/** Prometheus itself records it for each target. */
const OF_PROMETHEUS = ['up'];

/** Names of time series that a server exports, those of histograms included. */
async function exported(): Promise<Set<string>> {
  await using server = await openApp({ graphs: ['echo'] });
  const { text } = await server.get('/metrics');
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
    ),
  );
}

const always = await exported();
// Read from the environment of the process, as by everything else of OpenTelemetry.
vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9');
const withTraces = await exported();
vi.unstubAllEnvs();

test('names of metrics are found in PromQL', () => {
  const expression = `
    histogram_quantile(0.95, sum by (le, path) (rate(a_bucket{job="x", path=~"y{z"}[5m]))) > 1e9
      and on (instance) sum without (code) (increase(b:c_total[$__rate_interval] offset 5m)) / 7 * 86400
      unless max by (graph) (d) == bool 0 or predict_linear(e[6h], 60) > f`;
  expect(metricsIn(expression)).toEqual(['a_bucket', 'b:c_total', 'd', 'e', 'f']);
});

test.each(groups.flatMap(({ rules }) => rules))(
  'alert $alert uses metrics that a server exports, and has a runbook',
  ({ alert, expr, labels, annotations }) => {
    const used = metricsIn(expr).filter((metric) => !OF_PROMETHEUS.includes(metric));
    expect(metricsIn(expr)).not.toEqual([]);
    expect(used.filter((metric) => !always.has(metric))).toEqual([]);

    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
    const link = `{{ $externalLabels.agent_server_url }}/docs/guides/monitoring.md#${alert.toLowerCase()}`;
    expect(annotations.runbook_url).toBe(link);
    expect(PAGE).toContain(`\n### ${alert}\n`);
  },
);

const [, RUNBOOKS = ''] = PAGE.split('\n## Runbooks\n');

test('every runbook belongs to an alert', () => {
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  expect([...RUNBOOKS.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading)).toEqual(alerts);
});

test.each(RUNBOOKS.split('\n### ').slice(1))('a runbook names explain or doctor: %s', (runbook) => {
  expect(runbook).toMatch(/`GET \/\S+\/explain`|`npx agent-server (doctor|explain <\w+>)`/);
});

test.each(panels)('panel "$title" uses metrics that a server exports', ({ targets = [] }) => {
  const used = targets.flatMap(({ expr }) => metricsIn(expr));
  expect(used).not.toEqual([]);
  expect(used.filter((metric) => !always.has(metric))).toEqual([]);
});

test('the dashboard has a layout that Grafana accepts', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { targets = [] } of panels)
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  const [, of] = /^label_values\((\w+), job\)$/.exec(dashboard.templating.list[1]?.query ?? '') ?? [];
  expect(always).toContain(of);
});

test('the documented scrape configuration matches the alert rules', () => {
  const { scrape_configs, rule_files, global } = parse(
    onlyBlock('docs/monitoring.md', 'yaml', 'scrape_configs'),
  );
  expect(scrape_configs[0].job_name).toBe('agent-server');
  expect(rule_files).toEqual(['alerts.yaml']);
  expect(Object.keys(global.external_labels)).toEqual(['agent_server_url']);
});

test('every metric that the documentation names exists', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  const families = new Set([...withTraces].map((name) => name.replace(/_(bucket|sum|count)$/, '')));
  const named = pages.flatMap((page) =>
    [...read(`docs/${page}`).matchAll(/`((?:lg_api|agent_server|nodejs|process)_[a-z0-9_]*[a-z0-9])`/g)].map(
      ([, name = '']) => name,
    ),
  );
  const ABSENT = ['agent_server_url', 'lg_api_publish_queue_availability'];
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((name) => !families.has(name) && !ABSENT.includes(name))).toEqual([]);
});

test('docs/monitoring.md describes every exported metric', () => {
  const families = [...withTraces].map((name) => name.replace(/_(bucket|sum|count)$/, ''));
  // Beside one of them the page has only the ends of the names of its kind.
  const shown = families.map((name) =>
    name
      .replace(/^nodejs_eventloop_lag_.*/, 'nodejs_eventloop_lag_*')
      .replace(/_p(50|99)_seconds$/, '_max_seconds'),
  );
  const missing = shown.filter((name) => !PAGE.includes(`\`${name}\``));
  expect(families.length).toBeGreaterThan(60);
  expect(missing).toEqual([]);
});
