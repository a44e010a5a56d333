import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { project } from '../support/project.ts';

const BAG = `
  import { createHash } from 'node:crypto';
  export async function embed(texts: string[]): Promise<number[][]> {
    return texts.map((text) => {
      if (text.includes('poison')) throw new Error('secret reason');
      const vector = new Array<number>(1024).fill(0);
      for (const [word] of text.toLowerCase().matchAll(/\\w+/g)) {
        vector[createHash('sha1').update(word).digest().readUInt32BE() % 1024]! += 1;
      }
      return vector;
    });
  }
`;

const GRAPH = `
  import { Annotation, START, StateGraph } from '@langchain/langgraph';
  export const graph = new StateGraph(Annotation.Root({ query: Annotation<string>(), found: Annotation<unknown>() }))
    .addNode('look', async ({ query }, { store }) => {
      await store.put(['memories', 'ada'], 'walks', { text: 'walks in the green park' });
      const found = await store.search(['memories', 'ada'], { query, limit: 2 });
      return { found: found.map(({ key, score }) => [key, Math.round(score * 100) / 100]) };
    })
    .addEdge(START, 'look')
    .compile();
`;

const CONFIG = `
graphs:
  memory: ./graph.ts:graph
store:
  index: { dims: 1024, embed: ./embed.ts:embed, fields: [text] }
`;

const files = { 'graph.ts': GRAPH, 'embed.ts': BAG, 'agent.config.yaml': CONFIG };
const at = { namespace: ['memories', 'ada'] };

test('with an index, clients and graphs search the store by meaning', async () => {
  await using folder = await project(files);
  await using http = await openApp({ graphs: ['memory'], folder: folder.root });
  const put = (item: object) => http.send('PUT', '/store/items', { ...at, ...item });
  expect((await put({ key: 'tea', value: { text: 'likes green tea' } })).status).toBe(204);
  expect((await put({ key: 'cat', value: { text: 'has a cat' } })).status).toBe(204);
  const search = { namespace_prefix: ['memories'], query: 'green tea' };
  const { body } = await http.post('/store/items/search', search);
  expect(body.items.map(({ key }: { key: string }) => key)).toEqual(['tea', 'cat']);
  expect(body.items[0].score).toBeCloseTo(2 / Math.sqrt(6), 5);

  const run = { assistant_id: 'memory', input: { query: 'green park' } };
  const { body: state } = await http.post('/runs/wait', run);
  expect(state.found).toEqual([
    ['walks', 0.63],
    ['tea', 0.41],
  ]);
});

test('a failing embedder is a 503 that writes nothing and reveals no secret', async () => {
  await using folder = await project(files);
  await using http = await openApp({ graphs: ['memory'], folder: folder.root });
  const answer = await http.send('PUT', '/store/items', { ...at, key: 'k', value: { text: 'poison' } });
  expect([answer.status, answer.body, answer.headers['retry-after']]).toEqual([
    503,
    { detail: naming('embeddings') },
    '1',
  ]);
  expect(answer.text).not.toContain('secret');
  expect((await http.get('/store/items?namespace=memories.ada&key=k')).body).toBeNull();
  expect((await http.post('/store/items/search', { query: 'poison' })).status).toBe(503);
  expect(http.log).toContainEqual(
    expect.objectContaining({ level: 'error', message: 'store embeddings failed' }),
  );
});

test.each([
  ['openia:text-embedding-3-small', "there is no provider 'openia', only azure_openai, bedrock"],
  ['cohere:embed-v4.0', 'the package @langchain/cohere is not installed: npm install @langchain/cohere'],
  ['./nowhere.ts:embed', 'there is no file'],
  ['./embed.ts:other', "embed.ts has no export 'other', only: embed"],
  ['./graph.ts:nothing', "has no export 'nothing'"],
])('an index with %s is a problem of the configuration', async (embed, problem) => {
  await using folder = await project({
    ...files,
    'agent.config.yaml': CONFIG.replace('./embed.ts:embed', embed),
  });
  const opened = openApp({ graphs: ['memory'], folder: folder.root });
  await expect(opened).rejects.toThrow(`agent.config.yaml: store.index.embed: `);
  await expect(opened).rejects.toThrow(problem);
});
