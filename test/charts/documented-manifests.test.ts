import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, onlyBlock } from '../examples/blocks.ts';
import { manifestOf, manifestsIn, named, renderedWith } from './rendered.ts';

test.each([
  ['docs/deploy-recipes.md', 'kind: Deployment', ['Deployment agents', 'Service agents']],
  ['docs/postgresql.md', 'kind: Job', ['Job agents-migrate']],
])('%s: the manifests with %s match the schemas of their kinds', (page, part, kinds) => {
  expect(named(manifestsIn(onlyBlock(page, 'yaml', part)))).toEqual(kinds);
});

const PAGE = 'docs/kubernetes.md';

/** The flags for the chart in the only command of the page with this text. */
function flagsOf(part: string): string[] {
  const lines = blocksOf(PAGE)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'));
  const [line = '', ...more] = lines.filter((each) => each.startsWith('helm ') && each.includes(part));
  expect(more).toEqual([]);
  return line.split('/charts/agent-server ')[1]?.split(' ') ?? [];
}

test('docs/kubernetes.md: the first command renders a server with its image and a volume', async () => {
  const manifests = await renderedWith(flagsOf('image.repository'));

  expect(named(manifests)).toContain('StatefulSet *');
  const { containers } = manifestOf(manifests, 'StatefulSet').spec.template.spec;
  expect(containers[0].image).toBe('registry.example.com/agents:1');
});

test('docs/kubernetes.md: the values on PostgreSQL render two API servers, three workers and an ingress', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-values-'));
  const file = join(folder, 'values.yaml');
  await writeFile(file, onlyBlock(PAGE, 'yaml', 'database: postgres'));
  const flags = flagsOf('--values').map((flag) => (flag === 'values.yaml' ? file : flag));
  const manifests = await renderedWith(flags);
  await rm(folder, { recursive: true });

  expect(manifestOf(manifests, 'Deployment', 'api').spec.replicas).toBe(2);
  expect(manifestOf(manifests, 'Deployment', 'worker').spec.replicas).toBe(3);
  expect(manifestOf(manifests, 'Ingress').spec.rules[0].host).toBe('agents.example.com');
});
