import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/all-commands.ts';
import { allHelp } from '../../src/cli/command.ts';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';

const HELP = new URL('../../bin/help.json', import.meta.url);
/** The bin file reads nothing but this of the Node it runs on. */
const OLD_NODE =
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } });";
const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(OLD_NODE)}` };

test('the generated help for an old Node equals that of the commands (npx vitest run test/cli/help.test.ts -u writes it)', async () => {
  await expect(`${JSON.stringify(allHelp(COMMANDS), null, 2)}\n`).toMatchFileSnapshot('../../bin/help.json');
});

test.each([
  [['--help'], ''],
  [['help'], ''],
  [['start', '-h'], 'start'],
  [['keys', '--help'], 'keys'],
  [['keys', 'create', '--help'], 'keys create'],
])('an old Node shows the help of %j', async (args, name) => {
  const help = JSON.parse(await readFile(HELP, 'utf8'));

  const shown = await agentServer(args, { env });

  expect(shown).toEqual({ code: 0, stdout: help[name], stderr: '' });
  expect(await agentServer(args)).toEqual(shown);
});

test('an old Node prints the version', async () => {
  expect(await agentServer(['version'], { env })).toEqual(await agentServer(['version']));
});

test('an old Node prints the required version and how to get it, and exits with 2', async () => {
  expect(await agentServer(['start'], { env })).toEqual({
    code: 2,
    stdout: '',
    stderr: naming('Node 24.0', '18.20.0', 'npx agent-server'),
  });
});
