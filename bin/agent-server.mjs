#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Plain JavaScript without new syntax: an old Node must get as far as an answer instead of a crash in a module.
const args = process.argv.slice(2);
const source = new URL('../src/cli/main.ts', import.meta.url);
const fromSource = existsSync(source);
// The sources use `using`, which Node 24 brought and which the build translates.
const needed = fromSource ? [24, 0] : [22, 19];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  const text = textFor(args);
  if (text === undefined) {
    const root = fileURLToPath(new URL('..', import.meta.url));
    const way =
      fromSource && `${process.cwd()}/`.startsWith(root)
        ? 'in this repository, run it as npm start or npx agent-server'
        : 'npm install --save-dev node@24, then npx agent-server';
    console.error(
      `agent-server: needs Node ${needed.join('.')} or newer, but this is ${process.versions.node}: ${way}`,
    );
  } else {
    process.stdout.write(text);
  }
  process.exit(text === undefined || args.length === 0 ? 2 : 0);
}

// Compiled code is kept: loading the program took 650 ms without and 420 ms with it. Not in the default place, a folder
// that all users of the machine can write to. A variable, because the processes that `dev` starts shall use it too.
if (process.env.NODE_COMPILE_CACHE === undefined) {
  process.env.NODE_COMPILE_CACHE = fileURLToPath(
    new URL('../node_modules/.cache/agent-server', import.meta.url),
  );
}
module.enableCompileCache();

void import(fromSource ? source.href : new URL('../dist/cli/main.js', import.meta.url).href)
  .then(({ main }) => main(args))
  // User code may hold timers and sockets open, so the end of the command is the end of the process.
  .then((code) => process.exit(code));

/** What needs no new Node: the help and the version. */
function textFor(args) {
  const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
  const words = args.filter((arg) => !arg.startsWith('-'));
  if (['version', '--version', '-v'].includes(args[0]) && args.length === 1)
    return `${read('../package.json').version}\n`;
  if (args.length === 0 || words[0] === 'help') return read('help.json')[''];
  return args.includes('--help') || args.includes('-h') ? read('help.json')[words.join(' ')] : undefined;
}
