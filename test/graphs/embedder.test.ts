import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolveUserModule } from '../../src/graphs/project/user-module.ts';
import { loadEmbedder } from '../../src/graphs/store/embedder.ts';
import { failure } from '../support/naming.ts';
import { project } from '../support/project.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const MODULE = `
  export const embed = async (texts) => texts.map((text) => [text.length]);
  export const plain = (texts) => texts.map(() => [1]);
  export default { embedDocuments: async (texts) => texts.map(() => [1]), embedQuery: async () => [2] };
  export const wrong = 7;
`;

test.each([
  ['./embed.mjs:embed', [[3]], [5]],
  ['embed.mjs:plain', [[1]], [1]],
  ['./embed.mjs:default', [[1]], [2]],
])('%s embeds documents and queries', async (embed, documents, query) => {
  await using folder = await project({ 'embed.mjs': MODULE });
  const embedder = await loadEmbedder({ embed, dims: 1, root: folder.root });
  expect(await embedder.documents(['abc'])).toEqual(documents);
  expect(await embedder.query('abcde')).toEqual(query);
});

test('an embedder can be named by an absolute path', async () => {
  await using folder = await project({ 'embed.mjs': MODULE });
  const embed = `${join(folder.root, 'embed.mjs')}:embed`;
  expect(await (await loadEmbedder({ embed, dims: 1, root: '/' })).documents(['ab'])).toEqual([[2]]);
});

test('an invalid embedder is refused without paths outside of the project', async () => {
  await using folder = await project({ 'embed.mjs': MODULE });
  const load = (embed: string, root = folder.root) => loadEmbedder({ embed, dims: 1, root });
  await expect(load('./embed.mjs:wrong')).rejects.toThrow(failure(Error, './embed.mjs:wrong'));
  await expect(load('./missing.mjs:embed')).rejects.toThrow(failure(Error, './missing.mjs'));
  await expect(load('voyageai:voyage-3')).rejects.toThrow(failure(Error, 'voyageai', './file.ts:fn'));
});

/** As OpenAI's client asks for vectors. */
const base64 = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');

const openai = resolveUserModule(ROOT, '@langchain/openai');

describe.runIf(openai)('openai:text-embedding-3-small (where @langchain/openai is installed)', () => {
  test('requests as many dimensions as the index has', async () => {
    const asked: unknown[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { input, ...rest } = JSON.parse(body) as { input: string[] };
        asked.push([request.url, request.headers.authorization, rest]);
        const data = [input].flat().map((text, index) => ({ index, embedding: base64(text.length, 0.5) }));
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ object: 'list', data, model: 'm', usage: {} }));
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const environment = { ...process.env };
    process.env['OPENAI_API_KEY'] = 'key-of-the-test';
    process.env['OPENAI_BASE_URL'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    try {
      const embedder = await loadEmbedder({ embed: 'openai:text-embedding-3-small', dims: 2, root: ROOT });
      expect(await embedder.documents(['one', 'three'])).toEqual([
        [3, 0.5],
        [5, 0.5],
      ]);
      expect(await embedder.query('four')).toEqual([4, 0.5]);
      expect(asked[0]).toEqual([
        '/v1/embeddings',
        'Bearer key-of-the-test',
        expect.objectContaining({ model: 'text-embedding-3-small', dimensions: 2 }),
      ]);
    } finally {
      process.env = environment;
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  });
});
