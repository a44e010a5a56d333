import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type Compiler, findCompiler } from '../project/compiler.ts';
import { extractSchemas } from './extract.ts';
import type { ExtractionMessage, ExtractionRequest, GraphSource } from './extraction.ts';
import { openProject } from './type-program.ts';

/** Program of the child process: reads types, sends the schemas of each graph as soon as they are known, and exits. */
process.once('message', (request) => {
  void answer(request as ExtractionRequest).finally(() => process.disconnect());
});

const send = promisify<ExtractionMessage, void>((message, done) => {
  process.send?.(message, undefined, undefined, done);
});

async function answer({ folder, graphs }: ExtractionRequest): Promise<void> {
  const ts = findCompiler(folder);
  if (!ts) return send({ failed: 'no TypeScript 5 or 6 is installed' });
  // One program per tsconfig.json: graphs that share it also share the time that LangChain's types take.
  const projects = Map.groupBy(graphs, ({ file }) => ts.findConfigFile(dirname(file), ts.sys.fileExists));
  for (const [config, members] of projects) await answerProject(ts, config, members);
}

async function answerProject(
  ts: Compiler,
  config: string | undefined,
  graphs: readonly GraphSource[],
): Promise<void> {
  const files = graphs.map(({ file }) => file);
  const { program, dependencies } = openProject(ts, files, config);
  for (const { graph_id, file, export: name } of graphs) {
    try {
      await send({ graph_id, schemas: extractSchemas(ts, program, file, name), dependencies });
    } catch (error) {
      await send({ graph_id, error: error instanceof Error ? error.message : String(error) });
    }
  }
}
