import { expect, test } from 'vitest';
import { projectWarnings } from '../../src/graphs/project/project-warnings.ts';
import { naming } from '../support/naming.ts';
import { project } from '../support/project.ts';

const graphsAt = (...paths: string[]) => paths.map((path) => ({ graph_id: path, path, export: 'graph' }));

async function warningsWith(version: string) {
  await using folder = await project({
    'app/graph.ts': '',
    'app/node_modules/@langchain/langgraph/package.json': JSON.stringify({
      ...{ name: '@langchain/langgraph', version },
    }),
  });
  return await projectWarnings({ root: folder.root, graphs: graphsAt('./app/graph.ts', './app/graph.ts') });
}

test.each(['0.2.74', '0.3.12', '1.4.17', '2.0.0', '10.0.0'])(
  'LangGraph.js %s causes one warning',
  async (version) => {
    expect(await warningsWith(version)).toEqual([naming(version, '>=1.4.18 <2')]);
  },
);

test.each(['1.4.18', '1.5.0-rc.1', '1.10.0'])('LangGraph.js %s is supported', async (version) => {
  expect(await warningsWith(version)).toEqual([]);
});

test('a configuration that several graphs share is named once, and JavaScript needs none', async () => {
  const extending = JSON.stringify({ extends: ['@absent/one', './absent.json'] });
  await using folder = await project({
    'tsconfig.json': extending,
    'typed/a.ts': '',
    'typed/b.ts': '',
    'plain/tsconfig.json': extending,
    'plain/c.mjs': '',
  });
  const graphs = graphsAt('./typed/a.ts', './typed/b.ts', './plain/c.mjs');

  expect(await projectWarnings({ root: folder.root, graphs })).toEqual([
    naming('tsconfig.json', '@absent/one', './absent.json'),
  ]);
});
