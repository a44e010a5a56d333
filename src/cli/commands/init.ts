import { relative, resolve } from 'node:path';
import { type Command, columns } from '../command.ts';
import { writeAll } from '../init/files.ts';
import { changesFor, foundIn } from '../init/project-files.ts';

export const init: Command = {
  name: 'init',
  summary: 'Creates a project with one agent and its test, or adds what is missing to an existing one',
  args: [{ name: 'folder', text: 'folder of the project (default: the current folder)' }],
  flags: {},
  async run({ folder = '.' }) {
    const root = resolve(folder);
    const found = await foundIn(root);
    const [file, ...others] = await changesFor(root, found);
    // Configuration and agent are written last: while they are missing, a rerun completes the project.
    await writeAll(root, [file, ...others.toReversed()]);
    const rows = [file, ...others].map(({ state, name }) => [state, name]);
    const steps = nextSteps(folder, !found.configured && !found.agent);
    process.stdout.write(`${columns(rows).join('\n')}\n\nNext:\n\n${steps.join('\n')}\n`);
    return 0;
  },
};

/** Shell commands to run next. `ready`: the template's agent exists. */
function nextSteps(folder: string, ready: boolean): string[] {
  const place = relative(process.cwd(), resolve(folder));
  return [
    ...(place === '' ? [] : [`  cd ${quoted(place)}`]),
    '  npm install',
    ...(ready
      ? [
          '  npm run dev',
          '  npx agent-server ask agent "What time is it in Europe/Berlin?"   (in a second terminal)',
        ]
      : ['  npx agent-server check', '  npx agent-server dev']),
  ];
}

/** Quotes a path as one shell word that cannot be read as a flag. */
function quoted(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
