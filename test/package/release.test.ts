import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
// @ts-expect-error: a script without types
import { released } from '../../release.mjs';
import { packedPaths } from './pack.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { version, scripts, publishConfig } = JSON.parse(read('package.json'));
const COMMANDS = Object.keys(JSON.parse(read('bin/help.json')));
const PLACES = [
  'package.json',
  'package-lock.json',
  'README.md',
  'docs/install.md',
  'Dockerfile',
  'charts/agent-server/Chart.yaml',
];

test('every place that names the version of the server names the same', () => {
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({ version, packages: { '': { version } } });
  expect(JSON.parse(read('openapi/openapi.json')).info.version).toBe(version);
  expect(parse(read('charts/agent-server/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  expect(read('README.md').split(version)).toHaveLength(3);
  expect(read('Dockerfile')).toContain(`org.opencontainers.image.version="${version}"`);
  const installed = [...read('docs/install.md').matchAll(/agent-server[-@](\d[\w.-]*?)(?=\.tgz|[ `])/g)].map(
    ([, named]) => named,
  );
  expect(new Set(installed)).toEqual(new Set([version]));
});

test.each(PLACES)('a release changes the version in %s everywhere, and nothing else', (file) => {
  const text = read(file);
  const next = released(file, text, '9.8.7-rc.6', '2031-01-02');

  expect(next).not.toBe(text);
  expect(next.replaceAll('9.8.7-rc.6', version)).toBe(text);
  const own = next
    .split('\n')
    .filter((line: string) => line.includes(version) && !text.includes(`node_modules/${version}`));
  expect(own).toEqual([]);
});

test('a release dates what the changelog has under Unreleased, and refuses to release nothing', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n- New.\n';
  const next = released('CHANGELOG.md', changelog, '9.8.7', '2031-01-02');

  expect(next).toBe('# Changelog\n\n## [Unreleased]\n\n## [9.8.7] - 2031-01-02\n\n- New.\n');
  expect(() => released('CHANGELOG.md', next, '9.8.8', '2031-01-03')).toThrow('Unreleased');
});

test('workflows run scripts that exist, and publish with provenance and the fewest permissions', () => {
  const folder = '.github/workflows';
  const texts = readdirSync(join(ROOT, folder)).map((name) => read(join(folder, name)));
  const called = texts.flatMap((text) =>
    [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name),
  );
  expect(called.filter((name) => scripts[name] === undefined)).toEqual([]);
  for (const text of texts) expect(parse(text).permissions).toEqual({ contents: 'read' });

  const { jobs } = parse(read(join(folder, 'release.yml')));
  expect(jobs.package.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  expect(
    jobs.package.steps.filter(({ run }: { run?: string }) => run?.includes('npm publish --provenance')),
  ).toHaveLength(1);
  expect(publishConfig).toEqual({ access: 'public', provenance: true });
  const builds = jobs.image.steps.filter(({ uses }: { uses?: string }) =>
    uses?.startsWith('docker/build-push-action'),
  );
  expect(builds.map((step: { with: { context?: string } }) => step.with.context)).toEqual([
    undefined,
    'deploy/langgraph',
  ]);
  for (const build of builds)
    expect(build.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      sbom: true,
      provenance: 'mode=max',
    });
});

test('what the image has for amd64 it has for arm64 too, and its Dockerfile names no architecture', () => {
  const { packages } = JSON.parse(read('package-lock.json'));
  const names = Object.entries(packages as Record<string, { readonly dev?: boolean }>).flatMap(
    ([name, entry]) => (entry.dev ? [] : [name]),
  );
  const native = names.filter((name) => name.endsWith('linux-x64'));
  expect(native.length).toBeGreaterThan(1);
  for (const name of native) expect(names).toContain(name.replace(/x64$/, 'arm64'));

  const drivers = readdirSync(join(ROOT, 'node_modules/better-sqlite3/prebuilds'));
  expect(drivers).toEqual(expect.arrayContaining(['linux-x64.node', 'linux-arm64.node']));
  for (const file of ['Dockerfile', 'deploy/langgraph/Dockerfile'])
    expect(read(file)).not.toMatch(/amd64|x86|x64|arm64|aarch64/i);
});

test('forms of issues ask what is needed, and name commands that exist', () => {
  const [bug, idea] = ['bug', 'idea'].map((name) => parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)));
  for (const { name, description, body } of [bug, idea])
    expect([name, description, body.length > 1]).not.toContain('');
  expect(commandsIn(JSON.stringify(bug)).filter((name) => !COMMANDS.includes(name))).toEqual([]);
});

test('the skill is in the package, and names commands and pages that exist', async () => {
  const paths = await packedPaths();
  const skill = read('skills/agent-server/SKILL.md');
  expect(paths).toContain('skills/agent-server/SKILL.md');

  const [, head = ''] = /^---\n([\s\S]+?)\n---\n/.exec(skill) ?? [];
  expect(parse(head)).toMatchObject({
    name: 'agent-server',
    description: expect.stringMatching(/^.{50,1024}$/),
  });
  const named = commandsIn(skill);
  expect(named.length).toBeGreaterThan(7);
  expect(named.filter((name) => !COMMANDS.includes(name))).toEqual([]);
  const pages = [...skill.matchAll(/`(docs\/[\w/-]+\.md)`/g)].map(([, page = '']) => page);
  expect(pages.length).toBeGreaterThan(4);
  expect(pages.filter((page) => !paths.includes(page))).toEqual([]);
});

test('the page for coding agents names scripts and files that exist', () => {
  const text = read('AGENTS.md');
  const files = [...text.matchAll(/(?:`|run )((?:src|test|docs)\/[\w./-]+\.\w+)/g)].map(
    ([, file = '']) => file,
  );
  expect(files.length).toBeGreaterThan(4);
  for (const file of files) expect(read(file)).not.toBe('');
  for (const [, name = ''] of text.matchAll(/npm run ([\w:]+)/g))
    expect(Object.keys(scripts)).toContain(name);
});

function commandsIn(text: string): string[] {
  return [...text.matchAll(/(?:npx |`)agent-server ([a-z]+)/g)].map(([, name = '']) => name);
}
