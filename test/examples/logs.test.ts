import { expect, test } from 'vitest';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';
import { startServer } from '../support/server.ts';
import { blocksOf, callsOf, filesOf, inShell, onlyBlock } from './blocks.ts';

const PAGE = 'docs/logs.md';

test('docs/logs.md: the output of a graph is logged and read as shown', async () => {
  expect(blocksOf(PAGE).filter(({ language }) => language === 'sh')).toHaveLength(callsOf(PAGE).length + 2);
  // Follows for ever; test/cli/logs.test.ts has it.
  expect(onlyBlock(PAGE, 'sh', '--level')).toContain('logs -f');
  await using folder = await project({
    'agent.config.yaml': 'graphs: { agent: ./agent.ts:graph }',
    ...filesOf(PAGE),
  });
  await using server = await startServer({ config: folder.path('agent.config.yaml') });
  const warned = server.untilLog('the model is slow');
  const [read, log] = await inShell(callsOf(PAGE), server.url);

  expect(read).toMatchObject({ statuses: [200, 200, 200, 200], complaints: '' });
  const [stream = '', list = ''] = (read?.output ?? '').split(/(?=^\[)/m);
  expect(stream.match(/^event: \w+/gm)).toEqual(['event: log', 'event: log', 'event: end']);
  expect(JSON.parse(list)).toMatchObject([{ seq: 2, message: 'the model is slow' }]);

  expect(log?.output).toMatch(
    /^event: ready\r\ndata: {"host":.*\r\n.*event: log\r\ndata: .*"level":"warn"/ms,
  );

  const shown = JSON.parse(onlyBlock(PAGE, 'json', '"source"'));
  const { host: _, ...line } = await warned;
  expect(Object.keys(line).toSorted()).toEqual(Object.keys(shown).toSorted());
  expect(line['at']).toMatch(new RegExp(`${shown.at.split('/').at(-1)}$`));

  const command = onlyBlock(PAGE, 'sh', '--run').trim().split(' ').slice(2);
  const args = command.map((word) => (word.length === 36 ? String(line['run_id']) : word));
  const { stdout } = await agentServer([...args, '--url', server.url]);
  const withoutTimes = (text: string) => text.replace(/^\d\d:\d\d:\d\d/gm, '');
  expect(withoutTimes(stdout)).toBe(withoutTimes(onlyBlock(PAGE, 'text', 'WARN')));
});
