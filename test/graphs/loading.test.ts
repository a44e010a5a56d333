import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type LogLine, silentLogger } from '../../src/core/logger.ts';
import { loadGraphExport } from '../../src/graphs/project/load.ts';
import { loadGraphs } from '../../src/graphs/runtime/load-graphs.ts';
import { failure, naming } from '../support/naming.ts';
import { project } from '../support/project.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { Conversation, FIXTURES, load } from './support.ts';

const CONFIG = { configurable: {} };

/** The last state of a run of the graph that `forms.ts` or another file exports. */
async function resultOf(spec: string, root?: string) {
  const graphs = await load({ it: spec }, root);
  const conversation = new Conversation(await graphs.get('it', CONFIG, 'threads.create_run'));
  return (await conversation.dataOf('values', { input: {} })).at(-1);
}

describe('a graph may be exported', () => {
  test.each([
    ['compiled', './forms.ts:compiled', { by: 'compiled' }],
    ['as the default', './forms.ts', { by: 'default' }],
    ['before it is compiled', './forms.ts:uncompiled', { by: 'uncompiled' }],
    ['as a promise', './forms.ts:promised', { by: 'promised' }],
    ['as a function that makes it', './forms.ts:made', { by: 'made' }],
    ['as an async function that makes it, not compiled', './forms.ts:madeLater', { by: 'made later' }],
    ['from JavaScript', './plain-js.mjs:graph', { text: 'UNDEFINED' }],
  ])('%s', async (_, spec, values) => {
    expect(await resultOf(spec)).toEqual(values);
  });

  test('inside an agent of LangChain', async () => {
    expect(await resultOf('./forms.ts:agent')).toMatchObject({
      messages: [{ type: 'ai', content: 'I am an agent.' }],
    });
  });

  test('from TypeScript that needs compilation, with the paths of the nearest tsconfig.json', async () => {
    const project = join(import.meta.dirname, '../fixtures/projects/paths');
    expect(await resultOf('./graph.ts:graph', project)).toEqual({ word: 'hello' });
  });
});

describe('compiled TypeScript', () => {
  const source = (text: string) => `enum Word { it = '${text}' }
    export const graph = { stream: () => [], invoke: () => Word.it, lg_is_pregel: true };`;

  /** A project with a `node_modules` of its own, and what its graph returns when a server loads it. */
  async function ownModules() {
    const folder = await project({ 'a.ts': source('first') });
    await rm(folder.path('node_modules'));
    await mkdir(folder.path('node_modules'));
    const load = async () => {
      // Modules of this process, which jiti looks for first.
      delete createRequire(import.meta.url).cache[folder.path('a.ts')];
      const { graph } = (await loadGraphExport(folder.path('a.ts'), 'graph')) as { graph: object };
      return (graph as { invoke(): string }).invoke();
    };
    return { ...folder, load, cache: folder.path('node_modules/.cache/agent-server/typescript') };
  }

  test('is cached in the project and read at the next start', async () => {
    await using folder = await ownModules();
    expect(await folder.load()).toBe('first');

    const [kept = ''] = await readdir(folder.cache);
    const translated = await readFile(join(folder.cache, kept), 'utf8');
    await writeFile(join(folder.cache, kept), translated.replace('first', 'kept'));
    expect(await folder.load()).toBe('kept');
  });

  test('is translated again if its source changed or the cached file is incomplete', async () => {
    await using folder = await ownModules();
    await folder.load();
    await folder.write({ 'a.ts': source('second') });
    expect(await folder.load()).toBe('second');

    const [kept = '', ...others] = await readdir(folder.cache);
    expect(others).toEqual([]);
    const translated = await readFile(join(folder.cache, kept), 'utf8');
    await writeFile(join(folder.cache, kept), translated.slice(0, -20));
    expect(await folder.load()).toBe('second');
  });

  test('loads without a cache where it cannot be written', async () => {
    await using folder = await ownModules();
    await mkdir(join(folder.cache, '..'), { recursive: true });
    await writeFile(folder.cache, 'a file is in its place');
    expect(await folder.load()).toBe('first');

    await rm(folder.cache);
    await folder.load();
    const [kept = ''] = await readdir(folder.cache);
    // As a full disk, it fails when the file is written.
    await rm(join(folder.cache, kept));
    await mkdir(join(folder.cache, kept));
    await folder.write({ 'a.ts': source('second') });
    expect(await folder.load()).toBe('second');
  });

  test('is not cached in packages behind a link of the project', async () => {
    await using folder = await project({ 'a.ts': source('first') });
    await rm(folder.path('node_modules'));
    await mkdir(folder.path('packages'));
    await symlink(folder.path('packages'), folder.path('node_modules'));

    await loadGraphExport(folder.path('a.ts'), 'graph');

    expect(await readdir(folder.path('packages'))).toEqual([]);
  });
});

describe('decorators of a project', () => {
  const DECORATED = `
    import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
    import { Shape } from './types';
    function prefixed(prefix: string) {
      return (_: object, _key: string, descriptor: PropertyDescriptor) => {
        const { value } = descriptor;
        descriptor.value = function (this: object, ...given: unknown[]) { return prefix + value.apply(this, given); };
      };
    }
    const fields: string[] = [];
    const field = (_: object, name: string) => { fields.push(name); };
    class Greeter {
      @field name!: string;
      @field greeting = 'Hello';
      constructor(readonly shape?: Shape) {}
      @prefixed('> ') greet(who: string): string { return this.greeting + ' ' + who + ' ' + fields.join(); }
    }
    const State = Annotation.Root({ said: Annotation<string>() });
    export const graph = new StateGraph(State).addNode('greet', () => ({ said: new Greeter().greet('you') }))
      .addEdge(START, 'greet').addEdge('greet', END).compile();
  `;

  test('of experimentalDecorators work on fields and methods, without reflect-metadata', async () => {
    await using folder = await project({
      'tsconfig.json':
        '{ "compilerOptions": { "experimentalDecorators": true, "emitDecoratorMetadata": true } }',
      'types.ts': 'export interface Shape { sides: number }',
      'a.ts': DECORATED,
    });

    expect(await resultOf('./a.ts:graph', folder.root)).toEqual({ said: '> Hello you name,greeting' });
  });

  test('of the standard are called with a context', async () => {
    await using folder = await project({
      'a.ts': `
        const names: string[] = [];
        const named = (_: Function, { kind, name }: ClassMethodDecoratorContext) => { names.push(kind + ' ' + String(name)); };
        class Tool { @named run() {} }
        export const graph = { stream: () => [], invoke: () => names, lg_is_pregel: Tool !== undefined };
      `,
    });
    const { graph } = (await loadGraphExport(folder.path('a.ts'), 'graph')) as { graph: object };

    expect((graph as { invoke(): string[] }).invoke()).toEqual(['method run']);
  });
});

describe('a graph that does not load', () => {
  test('reports its error and does not affect the others', async () => {
    const graphs = await load({ broken: './broken.ts:graph', echo: './echo.ts:graph' });

    expect([...graphs.loadErrors().keys()]).toEqual(['broken']);
    await expect(graphs.get('broken', CONFIG, 'assistants.read')).rejects.toMatchObject({
      name: 'GraphLoadError',
      status: 422,
      message: naming("'broken'", 'the vault is locked'),
      // For the log of each run that needs it.
      cause: { message: 'the vault is locked', stack: naming('broken.ts') },
    });
    expect((await graphs.get('echo', CONFIG, 'assistants.read')).graph_id).toBe('echo');
  });

  test.each([
    ['./gone.ts:graph', "Graph 'it' failed to load: there is no file ./gone.ts"],
    [
      './graph.py:graph',
      "Graph 'it' failed to load: ./graph.py is written in Python: graphs need TypeScript or JavaScript here",
    ],
    ['./echo.ts:grpah', "Graph 'it' failed to load: ./echo.ts has no export 'grpah', only: graph"],
    ['./forms.ts:number', "Graph 'it' failed to load: expected a graph, got number"],
    ['./forms.ts:nothing', "Graph 'it' failed to load: expected a graph, got null"],
    ['./forms.ts:rejected', "Graph 'it' failed to load: the model is gone"],
    ['./forms.ts:madeBadly', "Graph 'it' failed to load: no key for the model"],
    ['/etc/hostname-of-nobody/graph.mjs:graph', "Graph 'it' failed to load: there is no file graph.mjs"],
  ])('%s reports the reason without a path of the machine', async (spec, message) => {
    const graphs = await load({ it: spec });
    await expect(graphs.get('it', CONFIG, 'assistants.read')).rejects.toThrow(message);
    expect(message).not.toContain(FIXTURES);
  });

  test.each([
    [
      'a.ts',
      "import { x } from 'not-real'; x();",
      "a.ts:2 imports 'not-real', which is not installed: npm install not-real",
    ],
    [
      'a.mjs',
      "import x from '@not/real';",
      "a.mjs:2 imports '@not/real', which is not installed: npm install @not/real",
    ],
    [
      'a.cjs',
      "const x = require('not-real');",
      "a.cjs:2 imports 'not-real', which is not installed: npm install not-real",
    ],
    ['a.ts', "import { x } from './gone.ts'; x();", "a.ts:2 imports './gone.ts', and there is no such file"],
    [
      'a.ts',
      "import { x } from '@/gone'; x();",
      "a.ts:2 imports '@/gone', which is neither a package nor in the paths of tsconfig.json",
    ],
  ])('because %s reports %s with the line and the way out, without a stack', async (name, line, message) => {
    await using folder = await project({ [name]: `// The first line.\n${line}\n` });
    const log: LogLine[] = [];
    const graphs = await loadGraphs([{ graph_id: 'it', path: `./${name}`, export: 'graph' }], {
      root: folder.root,
      logger: recordingLogger('info', (entry) => log.push(entry)),
    });

    const error = graphs.loadErrors().get('it');

    expect(error?.message).toBe(`Graph 'it' failed to load: ${message}`);
    expect(error?.stack).toBe(`GraphLoadError: ${error?.message}`);
    expect(log.map(({ message, fields }) => [message, fields['cause']])).toEqual([
      [error?.message, undefined],
    ]);
  });

  test('an export that a circle of imports leaves undefined is not called missing', async () => {
    await using folder = await project({
      'a.ts': "import { b } from './b.ts';\nexport const graph = b;\n",
      'b.ts': "import { graph } from './a.ts';\nexport const b = graph;\n",
    });
    const graphs = await loadGraphs([{ graph_id: 'it', path: './a.ts', export: 'graph' }], {
      root: folder.root,
      logger: silentLogger,
    });

    expect(graphs.loadErrors().get('it')?.message).toEqual(naming("'graph' of ./a.ts is undefined"));
  });

  test.each(['./forms.ts:never', './forms.ts:madeNever'])(
    '%s does not delay the other graphs',
    async (spec) => {
      const graphs = await load({ it: spec, echo: './echo.ts:graph' }, FIXTURES, 500);
      await expect(graphs.get('it', CONFIG, 'assistants.read')).rejects.toThrow(
        failure(Error, "'it'", '0.5 s'),
      );
      expect((await graphs.get('echo', CONFIG, 'assistants.read')).graph_id).toBe('echo');
    },
  );

  test('an unknown graph is not found, and the error lists the known ones', async () => {
    const graphs = await load({ a: './echo.ts:graph', b: './broken.ts:graph' });
    await expect(graphs.get('c', CONFIG, 'assistants.read')).rejects.toMatchObject({
      status: 404,
      message: "Graph 'c' not found. Expected one of: ['a', 'b']",
    });
  });
});

describe('a graph factory', () => {
  test('creates the graph for each use from the configuration', async () => {
    const graphs = await load({ factory: './factory.ts:graph' });
    const drawn = async (node_name: string) => {
      const graph = await graphs.get('factory', { configurable: { node_name } }, 'assistants.read');
      return (await graph.draw(false)).nodes.map(({ id }) => id);
    };
    expect(await drawn('one')).toContain('one');
    expect(await drawn('two')).toContain('two');
  });

  test('receives the purpose of the graph, and the context when it is executed', async () => {
    const graphs = await load({ factory: './factory.ts:graph' });
    const graph = await graphs.get('factory', CONFIG, 'threads.create_run', { user: 'u' });
    const values = await new Conversation(graph).dataOf('values', { input: {} });
    expect(values.at(-1)).toEqual({
      node: 'made',
      made_for: { access: 'threads.create_run', context: { user: 'u' } },
    });
  });
});
