import { access, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Command, columns, UsageError } from '../command.ts';
import { isMachineNodeTooOld } from '../init/machine-node.ts';
import { PACKAGE, packageFile, readPackage } from '../init/package-file.ts';
import { nextSteps } from '../init/steps.ts';

/** Names in the project by those in the package: npm takes a `.gitignore` for itself. */
const FILES = {
  'agent.config.yaml': 'agent.config.yaml',
  'src/agent.ts': 'src/agent.ts',
  'src/offline-model.ts': 'src/offline-model.ts',
  'test/agent.test.ts': 'test/agent.test.ts',
  'tsconfig.json': 'tsconfig.json',
  '.env': 'env.example',
  '.env.example': 'env.example',
  '.gitignore': 'gitignore',
} as const;

export const init: Command = {
  name: 'init',
  summary: 'Creates a project with one agent and its test, or adds what is missing to the one that is there',
  args: [{ name: 'folder', text: 'where; the current folder without it' }],
  flags: {},
  async run({ folder = '.' }) {
    const root = resolve(folder);
    const rows = await created(root).catch((error: NodeJS.ErrnoException) => {
      if (error.code === undefined) throw error;
      throw new UsageError(`init: cannot write to ${root} (${error.code})`);
    });
    process.stdout.write(`${columns(rows).join('\n')}\n\nNext:\n\n${nextSteps(folder).join('\n')}\n`);
    return 0;
  },
};

/** What was done, file by file. A file that is there stays as it is; only package.json gets what it lacks. */
async function created(root: string): Promise<string[][]> {
  await mkdir(root, { recursive: true });
  const known = await readPackage(root);
  const file = await packageFile(root, known, await isMachineNodeTooOld());
  await writeFile(join(root, 'package.json'), `${JSON.stringify(file, null, 2)}\n`);
  const rows = [[known === undefined ? 'created' : 'changed', 'package.json']];
  for (const [name, source] of Object.entries(FILES)) {
    const target = join(root, name);
    if (await exists(target)) {
      rows.push(['kept', name]);
      continue;
    }
    await mkdir(dirname(target), { recursive: true });
    await copyFile(join(PACKAGE, 'templates/agent', source), target);
    rows.push(['created', name]);
  }
  return rows;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
