import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALL_VARIABLES } from '../../src/config/config-file.ts';
import { project } from '../support/project.ts';
import { CHART, helm, manifestOf, named, rendered, renderedWith } from './rendered.ts';

const ON_POSTGRES = { database: 'postgres', 'autoscaling.enabled': true, 'ingress.enabled': true };

test('the chart on PostgreSQL has API and workers, a migration before them, budgets and a scaler', async () => {
  expect(named(await rendered(ON_POSTGRES))).toEqual([
    'Deployment *-api',
    'Deployment *-worker',
    'Ingress *',
    'Job *-migrate',
    'PodDisruptionBudget *-api',
    'PodDisruptionBudget *-worker',
    'ScaledObject *-worker',
    'Service *',
  ]);
});

test('pods of the chart have three different probes, and a time to stop that follows from one value', async () => {
  const manifests = await rendered({ ...ON_POSTGRES, 'worker.graceSeconds': 600 });
  const { spec } = manifestOf(manifests, 'Deployment', 'worker').spec.template;
  const [container] = spec.containers;

  const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
  expect(probes.map(({ httpGet }) => httpGet.path)).toEqual(['/ok?check_db=1', '/ok', '/ok?live=1']);
  expect(container.env).toContainEqual({ name: 'BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS', value: '600' });
  const pause = Number(container.lifecycle.preStop.exec.command[1]);
  expect(pause).toBeGreaterThan(0);
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(600 + pause);
});

test('the server reads every variable that the chart sets', async () => {
  const manifests = await rendered(ON_POSTGRES);
  const pods = manifests.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.template.spec);
  const set = pods.flatMap(({ containers }) => containers[0].env as { name: string; value: string }[]);

  const known = new Set(ALL_VARIABLES.map(({ name }) => name));
  expect(set.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  expect(set.filter(({ name }) => name === 'AGENT_SERVER_ROLE').map(({ value }) => value)).toEqual([
    'api',
    'worker',
  ]);
  expect(set).toContainEqual({ name: 'AGENT_SERVER_DATABASE_MIGRATIONS', value: 'wait' });
});

test('the service of the chart selects the pods that answer requests, and no others', async () => {
  const manifests = await rendered(ON_POSTGRES);
  const { selector } = manifestOf(manifests, 'Service').spec;
  const labels = (suffix: string) =>
    manifestOf(manifests, 'Deployment', suffix).spec.template.metadata.labels;

  expect(labels('api')).toMatchObject(selector);
  expect(labels('worker')).not.toMatchObject(selector);
  expect(manifestOf(manifests, 'PodDisruptionBudget', 'worker').spec.selector.matchLabels).toEqual(
    manifestOf(manifests, 'Deployment', 'worker').spec.selector.matchLabels,
  );
});

test('workers that are scaled have no fixed number, and are removed one after the other', async () => {
  const manifests = await rendered(ON_POSTGRES);
  expect(manifestOf(manifests, 'Deployment', 'worker').spec).not.toHaveProperty('replicas');

  const { spec } = manifestOf(manifests, 'ScaledObject');
  expect(spec.scaleTargetRef.name).toBe(manifestOf(manifests, 'Deployment', 'worker').metadata.name);
  expect(spec.triggers[0].metadata.query).toContain('lg_api_num_pending_runs');
  expect(spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.policies).toEqual([
    { type: 'Pods', value: 1, periodSeconds: 60 },
  ]);
});

test('the chart refuses a value that it does not know', async () => {
  await helm('version');
  await expect(rendered({ 'worker.grace': 3 })).rejects.toThrow('grace');
  await expect(rendered({ database: 'mysql' })).rejects.toThrow('database');
  expect(readdirSync(join(CHART, 'templates')).length).toBeLessThanOrEqual(12);
});

test('the migration of the chart is placed and limited like the pods that follow it', async () => {
  const manifests = await rendered({
    ...ON_POSTGRES,
    'nodeSelector.arch': 'arm64',
    'tolerations[0].operator': 'Exists',
    'podAnnotations.sidecar': 'none',
  });
  const { metadata, spec } = manifestOf(manifests, 'Job', 'migrate').spec.template;
  const api = manifestOf(manifests, 'Deployment', 'api').spec.template;
  expect(metadata.annotations).toEqual({ sidecar: 'none' });
  for (const field of ['nodeSelector', 'tolerations', 'securityContext', 'enableServiceLinks'])
    expect([field, spec[field]]).toEqual([field, api.spec[field]]);
  expect(spec).toMatchObject({ nodeSelector: { arch: 'arm64' }, enableServiceLinks: false });
  expect(spec.containers[0].resources).toEqual(api.spec.containers[0].resources);
});

test('large numbers of a values file reach the server as they are written', async () => {
  await using files = await project({
    'values.yaml': 'database: postgres\nenv: { BG_JOB_TIMEOUT_SECS: 2592000, LOG_JSON: true }\n',
  });
  const manifests = await renderedWith(['--values', join(files.root, 'values.yaml')]);
  const pods = [manifestOf(manifests, 'Deployment', 'api'), manifestOf(manifests, 'Job', 'migrate')];
  for (const { spec } of pods) {
    const [{ env }] = spec.template.spec.containers;
    expect(env).toContainEqual({ name: 'BG_JOB_TIMEOUT_SECS', value: '2592000' });
    expect(env).toContainEqual({ name: 'LOG_JSON', value: 'true' });
  }
});

test('the chart accepts a wildcard host, and a release name of the greatest length', async () => {
  const host = '*.agents.example.com';
  const set = Object.entries({ ...ON_POSTGRES, 'ingress.host': host }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const manifests = await renderedWith(['--set', set.join(',')], 'r'.repeat(53));
  expect(manifestOf(manifests, 'Ingress').spec.rules[0].host).toBe(host);
  for (const { metadata } of manifests) expect(metadata.name).toMatch(/^[a-z-]{1,58}$/);
});
