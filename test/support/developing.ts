import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { Client } from '@langchain/langgraph-sdk';
import { program } from './program.ts';
import type { Project } from './project.ts';
import { until } from './until.ts';

/** `agent-server dev` in a project, and what it wrote. */
export async function developing(folder: Project) {
  const lines: string[] = [];
  const child = program(['dev'], { cwd: folder.root });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => lines.push(stripVTControlCharacters(line)));
  }
  const readyLines = () => lines.filter((line) => line.includes(' ready '));
  await until('the server is ready', () => readyLines().length > 0);
  const url = /"url":"([^"]+)"/.exec(readyLines()[0] as string)?.[1] as string;
  return {
    child,
    lines,
    url,
    client: new Client({ apiUrl: url }),
    restarts: () => readyLines().length - 1,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
