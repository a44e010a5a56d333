import { afterAll, beforeAll, expect, test } from 'vitest';
import { python } from '../support/python.ts';
import { blocksOf, inProgram, NODE } from './blocks.ts';
import { type Started, started } from './started.ts';

const BLOCKS = blocksOf('docs/clients.md');

let server: Started;

beforeAll(async () => {
  server = await started('npm start');
});

afterAll(() => server[Symbol.asyncDispose]());

function only(language: string, pattern: RegExp): string {
  const found = BLOCKS.filter((block) => block.language === language && pattern.test(block.text));
  expect(found).toHaveLength(1);
  return found[0]!.text;
}

test.each([
  [
    'the SDK',
    /new Client\(/,
    [
      /^Let me look into the notes\.refunds\.md says/,
      /The thread holds 4 messages\.$/m,
      /name: 'send_email'/,
    ],
  ],
  ['RemoteGraph', /research\.invoke/, [/^# ventilation\n\n## ventilation\n/]],
  ['RemoteGraph as a node', /graph\.invoke/, [/report: '# ventilation/]],
  ['AG-UI', /ag-ui/, [/^Let me look into the notes\.$/m, /Sunday/]],
] as const)('docs/clients.md, JavaScript: %s', async (_, pattern, patterns) => {
  const output = await inProgram(NODE, ['--input-type=module'], only('js', pattern), server.url);

  for (const each of patterns) expect(output).toMatch(each);
  expect(output).not.toContain('"score"');
});

test('docs/clients.md, JavaScript: every sample is tested', () => {
  expect(BLOCKS.filter(({ language }) => language === 'js')).toHaveLength(4);
});

test.runIf(python).each([
  ['streams', /get_sync_client/, [/# Compare insulation and heat pumps\./]],
  ['answers an interrupt', /get_client/, [/'name': 'send_email'/, /^updates .*in the outbox/m]],
] as const)('docs/clients.md, Python: %s', async (_, pattern, patterns) => {
  const output = await inProgram(python ?? '', ['-'], only('python', pattern), server.url);

  for (const each of patterns) expect(output).toMatch(each);
});
