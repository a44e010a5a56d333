import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/api.md');

interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
}

test('docs/api.md lists every operation of the OpenAPI document (vitest -u writes it)', async () => {
  const { tags, paths } = JSON.parse(await readFile(join(ROOT, 'openapi/openapi.json'), 'utf8')) as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([
        method,
        {
          summary,
          tags: [tag],
        },
      ]) => ({
        tag,
        row: `| \`${method.toUpperCase()} ${path}\` | ${summary} |`,
      }),
    ),
  );
  const sections = tags.map(({ name, description = '' }) => {
    const rows = operations.filter(({ tag }) => tag === name).map(({ row }) => row);
    return `## ${name}\n\n${description}\n\n| operation | |\n|---|---|\n${rows.join('\n')}\n`;
  });
  const page = await readFile(PAGE, 'utf8');
  const [before] = page.split(/(?<=<!-- operations -->\n)/);

  await expect(`${before}\n${sections.join('\n')}`).toMatchFileSnapshot(PAGE);
  expect(sections.join('').match(/^\| `/gm)).toHaveLength(operations.length);
});
