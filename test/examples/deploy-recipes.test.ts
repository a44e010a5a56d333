import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ALL_VARIABLES } from '../../src/config/config-file.ts';
import { failure } from '../support/naming.ts';
import { needs } from '../support/needs.ts';
import { PROGRAM } from '../support/program.ts';
import { startServer } from '../support/server.ts';
import { blocksOf, onlyBlock, ROOT } from './blocks.ts';

const PAGE = 'docs/deploy-recipes.md';
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const run = promisify(execFile);

/** Of other programs, of Node and of the C library. */
const FOREIGN = ['NODE_ENV', 'MALLOC_ARENA_MAX', 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'];

test('the server reads every variable of the deployment recipes', () => {
  const text = readFileSync(join(ROOT, PAGE), 'utf8');
  const known = new Set([...ALL_VARIABLES.map(({ name }) => name), ...FOREIGN]);
  const named = [...text.matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)].map(([name]) => name);

  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('the Dockerfile matches the deployment recipes', () => {
  expect(DOCKERFILE).toContain('PORT=8123');
  expect(DOCKERFILE).toContain('AGENT_SERVER_DATA_DIR=/data');
  expect(DOCKERFILE).toContain('LANGGRAPH_SERVER_HOST=0.0.0.0');
  expect(DOCKERFILE).toContain('MALLOC_ARENA_MAX=2');
  expect(DOCKERFILE).toMatch(/^USER node$/m);
  expect(DOCKERFILE).toMatch(/^WORKDIR \/app$/m);
});

test('the recipe for Docker Compose sets port, database and stop time', () => {
  const { services, volumes } = parse(onlyBlock(PAGE, 'yaml', 'stop_grace_period'));
  expect(services.agents.ports).toEqual(['127.0.0.1:8123:8123']);
  expect(services.agents.environment.DATABASE_URI).toContain(
    `@database:5432/${services.database.environment.POSTGRES_DB}`,
  );
  expect(Number.parseInt(services.agents.stop_grace_period, 10)).toBeGreaterThan(180);
  expect(Object.keys(volumes)).toEqual(['database']);
});

test('the recipe for Kubernetes sets probes, ports and stop time', () => {
  const documents = parseAllDocuments(onlyBlock(PAGE, 'yaml', 'kind: Deployment')).map((each) => each.toJS());
  const [deployment, service] = documents;
  const { spec } = deployment.spec.template;
  const [container] = spec.containers;
  expect(container.ports).toEqual([{ name: 'http', containerPort: 8123 }]);
  expect(container.readinessProbe.httpGet).toEqual({ path: '/ok', port: 'http' });
  expect(container.livenessProbe.httpGet).toEqual({ path: '/ok?live=1', port: 'http' });
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(180);
  expect(container.volumeMounts[0].mountPath).toBe('/data');
  expect(service.spec.ports[0].targetPort).toBe('http');
  expect(service.spec.selector).toEqual(deployment.spec.template.metadata.labels);
});

test('the recipes for Render and Fly.io set health check, port, folder and stop time', () => {
  const [render] = parse(onlyBlock(PAGE, 'yaml', 'healthCheckPath')).services;
  expect(render).toMatchObject({
    healthCheckPath: '/ok',
    envVars: expect.arrayContaining([{ key: 'PORT', value: '8123' }]),
  });
  expect(render.maxShutdownDelaySeconds).toBeGreaterThan(180);

  const fly = tomlOf(onlyBlock(PAGE, 'toml', 'http_service'));
  expect(fly).toMatchObject({
    kill_timeout: '200s',
    'http_service.internal_port': 8123,
    'http_service.checks.path': '/ok',
    'mounts.destination': '/data',
    'http_service.auto_stop_machines': 'off',
  });
});

/** As much of TOML as the recipe has: tables, texts, numbers and flags. Throws for anything else. */
function tomlOf(text: string): Record<string, unknown> {
  let table = '';
  const values: Record<string, unknown> = {};
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const [, name] = /^\[\[?([\w.]+)\]\]?$/.exec(line) ?? [];
    if (name !== undefined) table = `${name}.`;
    else {
      const [, key, value] = /^(\w+) = (.+)$/.exec(line) ?? [];
      values[table + String(key)] = JSON.parse(String(value));
    }
  }
  return values;
}

test('the recipe for systemd starts the program directly and sets its stop time', () => {
  const unit = onlyBlock(PAGE, 'ini', '[Service]');
  const [, program = ''] = /^ExecStart=\S+ node_modules\/agent-server\/(\S+) start$/m.exec(unit) ?? [];
  expect(existsSync(join(ROOT, program))).toBe(true);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(180);
});

test('the recipe for backups restores a backup of a running server', async () => {
  needs('bash');
  const [backup = '', restore = ''] = blocksOf(PAGE)
    .filter(({ language, text }) => language === 'sh' && text.includes('backup.db'))
    .map(({ text }) => text);
  await using server = await startServer();
  const kept = await server.client.threads.create();
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-backup-'));
  const env = { ...process.env, DATABASE_URI: `sqlite:${server.database}` };
  const inFolder = (script: string) => run('bash', ['-ec', local(script)], { cwd: folder, env });

  expect((await inFolder(backup)).stdout).toContain('backup.db');
  const lost = await server.client.threads.create();
  await expect(inFolder(restore)).rejects.toThrow(failure(Error, 'Another server'));
  await server.kill('SIGKILL');
  await inFolder(restore);
  await server.restart();

  expect(await server.client.threads.get(kept.thread_id)).toMatchObject({ thread_id: kept.thread_id });
  await expect(server.client.threads.get(lost.thread_id)).rejects.toThrow('404');
  await rm(folder, { recursive: true });
});

test('the doctor finds nothing in the database of a new server', async () => {
  needs('bash');
  const [doctor = ''] = blocksOf(PAGE)
    .filter(({ language, text }) => language === 'sh' && text.includes('agent-server doctor'))
    .map(({ text }) => text);
  await using server = await startServer();
  const env = { ...process.env, DATABASE_URI: `sqlite:${server.database}` };
  expect((await run('bash', ['-ec', local(doctor)], { env })).stdout).toBe('nothing found\n');
});

/** The commands of the page with the program of this repository and a configuration. */
function local(script: string): string {
  const config = join(ROOT, 'test/fixtures/graphs/agent.config.yaml');
  return script
    .trim()
    .replace('npx agent-server', `"${process.execPath}" "${PROGRAM}"`)
    .concat(` --config "${config}"`);
}
