import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, callsOf, type Outcome } from './blocks.ts';
import { useCallsOf } from './started.ts';

const PAGE = 'docs/runs.md';

const page = useCallsOf(PAGE);

/** What the one block with this line printed. */
function of(line: string): Outcome {
  const found = page.outcomes.filter((_, index) => callsOf(PAGE)[index]?.includes(line));
  expect(found).toHaveLength(1);
  return found[0]!;
}

test('docs/runs.md: every call succeeds, except the run that must be rejected', () => {
  expect(page.outcomes.map(({ complaints }) => complaints).filter(Boolean)).toEqual([]);
  expect(page.outcomes.flatMap(({ statuses }) => statuses).filter((status) => status >= 300)).toEqual([409]);
});

test.each([
  ['waiting: the state grows', 'for word in', [/"count":1\b[\s\S]*"count":2\b/, /"next":\[\]/]],
  ['streaming: updates and values', '"updates"]', [/^event: updates\r$/m, /^event: values\r$/m, /"count":3/]],
  [
    'streaming the tokens of a model',
    '"messages-tuple"',
    [/^event: metadata\r$/m, /^event: messages\r$/m, /"type":"AIMessageChunk"/, /"type":"tool"/],
  ],
  ['in the background: joined', '/join', [/"status":"(pending|running|success)"/, /"count":4/]],
  ['without a thread', '"research"', [/"report":"# Compare heat pumps/, /solar-panels\.md/]],
  ['a person is asked and edits', '"edit"', [/"__interrupt__":/, /"status":"interrupted"/, /in the outbox/]],
  ['a person rejects', '"reject", "message"', [/"__interrupt__":/, /"content":"Ana is on holiday\."/]],
  ['a run is cancelled', 'cancel?wait=1', [/"status":"interrupted"/]],
  ['a busy thread', '"rollback"', [/already running[\s\S]*instead of the first/]],
  ['a fork', '"checkpoint_id"', [/Ana is on holiday/]],
  ['a memory', '/store/items/search', [/likes green tea/]],
  ['a cron is created and triggered', '/runs/crons', [/"tick":null[^}]*"outcome":"started"/]],
] as const)('docs/runs.md: %s', (_, line, patterns) => {
  for (const pattern of patterns) expect(of(line).output).toMatch(pattern);
});

test('docs/runs.md: a resumed stream starts after the last event', () => {
  const ids = [...of('"updates"]').output.matchAll(/^id: (\d+)\r$/gm)].map((match) => Number(match[1]));
  const last = Math.max(...ids);

  expect(last).toBeGreaterThan(3);
  expect(ids).toEqual([...range(1, last), ...range(3, last)]);
});

test('docs/runs.md: the question is as shown', () => {
  const [shown] = blocksOf(PAGE).filter(({ language }) => language === 'json');
  const { action_requests, review_configs } = JSON.parse(shown?.text ?? '');
  // Newlines come first if it takes its time.
  const [first = ''] = of('"edit"').output.trimStart().split('\n');
  const stopped = JSON.parse(/^\{.*?\}(?=\{|$)/.exec(first)?.[0] ?? first);

  expect(stopped.__interrupt__).toMatchObject([
    {
      value: {
        action_requests: [{ ...action_requests[0], description: expect.any(String) }],
        review_configs,
      },
    },
  ]);
});

test('docs/runs.md: only the approved e-mail is in the outbox, as it was edited', async () => {
  const mails = await readdir(page.server.outbox);

  expect(mails).toHaveLength(1);
  expect(await readFile(join(page.server.outbox, mails[0]!), 'utf8')).toBe(
    'To: ana@example.com\nSubject: Lunch today\n\nSee you at noon.\n',
  );
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
