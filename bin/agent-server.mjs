#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Plain JavaScript without new syntax: an old Node must get as far as the line below instead of a crash in a module.
const source = new URL('../src/cli/main.ts', import.meta.url);
const fromSource = existsSync(source);
// The sources use `using`, which Node 24 brought and which the build translates.
const needed = fromSource ? [24, 0] : [22, 19];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  const hint = fromSource ? '; in this repository, run it as npm start or npx agent-server' : '';
  console.error(
    `agent-server: needs Node ${needed.join('.')} or newer, but this is ${process.versions.node}${hint}`,
  );
  process.exit(2);
}

// Compiled code is kept: loading the program took 650 ms without and 420 ms with it. Not in the default place, a folder
// that all users of the machine can write to. A variable, because the processes that `dev` starts shall use it too.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../node_modules/.cache/agent-server', import.meta.url),
);
module.enableCompileCache();

const { main } = await import(
  fromSource ? source.href : new URL('../dist/cli/main.js', import.meta.url).href
);
// User code may hold timers and sockets open, so the end of the command is the end of the process.
process.exit(await main(process.argv.slice(2)));
