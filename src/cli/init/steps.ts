import { relative, resolve } from 'node:path';

/** The commands that come next, for a shell. `ready`: the agent of the template is there to be asked. */
export function nextSteps(folder: string, ready: boolean): string[] {
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

/** As one word of a shell, and no flag. */
function quoted(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
