import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { openApiDocument } from '../../src/app/openapi-document.ts';
import { VERSION } from '../../src/config/version.ts';
import { REQUESTS } from '../../src/schemas/named.ts';
import { differences, type OpenApiDocument, type Operation } from './openapi-differences.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The operations, parameters and fields of the official document, without its texts. */
const official = JSON.parse(readFileSync(join(ROOT, 'openapi/official.json'), 'utf8')) as OpenApiDocument & {
  tags: { name: string }[];
};

/** Statuses whose answers are failures of JSON-RPC, by operation. */
const OWN_WORDS: Readonly<Record<string, readonly string[]>> = {
  mcp: ['400', '406', '413', '415'],
  send_agent_message: ['413'],
};

const document = (await openApiDocument(VERSION)) as OpenApiDocument & { tags: { name: string }[] };
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

test('the committed document equals the one generated from the schemas (npm run openapi)', () => {
  const committed = JSON.parse(readFileSync(join(ROOT, 'openapi/openapi.json'), 'utf8'));
  expect(document).toEqual(committed);
});

test('the list of differences to the official document is complete and current', () => {
  const listed = parse(readFileSync(join(ROOT, 'openapi/differences.yaml'), 'utf8')) as {
    reason: string;
    differences: string[];
  }[];
  expect(listed.filter(({ reason }) => !reason)).toEqual([]);
  expect(listed.flatMap((group) => group.differences).sort()).toEqual(differences(official, document));
});

test('groups of operations have the order of the official document', () => {
  const [theirs, ours] = [official, document].map(({ tags }) => tags.map(({ name }) => name));
  const shared = (ours as string[]).filter((name) => theirs?.includes(name));
  expect(shared).toEqual(theirs?.filter((name) => shared.includes(name)));
});

test('every operation has a summary and a description', () => {
  const tags = document.tags.map(({ name }) => name);
  for (const { operationId, summary, description, tags: group } of operations) {
    expect({ operationId, summary, description }).toEqual({
      operationId: expect.stringMatching(/^[a-z_]+$/),
      summary: expect.stringMatching(/\w/),
      description: expect.stringMatching(/\.$/),
    });
    expect(tags).toEqual(expect.arrayContaining(group as string[]));
  }
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids).toEqual([...new Set(ids)]);
});

test('every operation describes its success and its errors', () => {
  const open = ['delete_studio_session', 'get_health', 'get_root', 'get_studio_session', 'get_ui_file'];
  for (const { operationId, responses } of operations) {
    const statuses = Object.keys(responses);
    expect([operationId, statuses]).toEqual([
      operationId,
      expect.arrayContaining([expect.stringMatching(/^2/)]),
    ]);
    if (!open.includes(operationId as string))
      expect([operationId, statuses]).toContainEqual(expect.arrayContaining(['401']));
    const inOwnWords = OWN_WORDS[operationId as string] ?? [];
    for (const status of statuses.filter((each) => Number(each) >= 400 && !inOwnWords.includes(each))) {
      expect(responses[status]?.content?.['application/json']).toEqual({
        schema: { $ref: '#/components/schemas/ErrorResponse' },
        example: { detail: expect.stringMatching(/\w/) },
      });
    }
  }
});

test('every request body has an example that its schema accepts', () => {
  const withBody = operations.filter(({ requestBody }) => requestBody);
  expect(withBody.length).toBeGreaterThan(15);
  for (const { operationId, requestBody } of withBody as Required<Operation>[]) {
    const { schema, example } = requestBody.content['application/json'] ?? {};
    const name = schema?.$ref?.split('/').at(-1) as string;
    expect([operationId, REQUESTS[name]?.safeParse(example)]).toMatchObject([operationId, { success: true }]);
  }
});

test('every field of a request and every parameter has a description', () => {
  const fields = Object.keys(REQUESTS).flatMap((name) =>
    Object.entries(document.components.schemas[name]?.properties ?? {}).map(
      ([field, schema]) => [`${name}.${field}`, schema] as const,
    ),
  );
  const parameters = operations.flatMap(({ operationId, parameters = [] }) =>
    parameters.map((parameter) => [`${operationId}: ${parameter.name}`, parameter] as const),
  );
  expect(fields.length).toBeGreaterThan(60);
  for (const [name, explained] of [...fields, ...parameters]) {
    expect([name, explained]).toEqual([
      name,
      expect.objectContaining({ description: expect.stringMatching(/\.$/) }),
    ]);
  }
});

test('every reference leads to a schema, and every schema is used', () => {
  const text = JSON.stringify(document);
  const referred = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect([...new Set(referred)].sort()).toEqual(Object.keys(document.components.schemas).sort());
});
