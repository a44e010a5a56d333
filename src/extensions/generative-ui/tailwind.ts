import { readFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { resolveUserModule } from '../../graphs/project/user-module.ts';
import type { UiInput } from './bundle-inputs.ts';

/** The part of Tailwind 4 that is used. */
interface Tailwind {
  compile(css: string, options: { base: string } & Loaders): Promise<{ build(candidates: string[]): string }>;
}

interface Loaders {
  loadStylesheet(id: string, base: string): Promise<{ path: string; base: string; content: string }>;
  loadModule(id: string, base: string): Promise<{ path: string; base: string; module: unknown }>;
}

export interface TailwindOptions {
  /** The text to scan for class names: the program. */
  readonly program: () => Promise<string>;
  /** Called with each style sheet as it is on disk. */
  readonly onInput: (input: UiInput) => void;
}

const DIRECTIVE =
  /@(?:tailwind|theme|apply|utility|variant|custom-variant|reference|plugin|config|source)\b|@import\s+["']tailwindcss/;

/** Compiles style sheets written for Tailwind CSS, with the project's copy. */
export function tailwind({ program, onInput }: TailwindOptions): Plugin {
  async function readStyleSheet(file: string): Promise<string> {
    const css = await readFile(file, 'utf8');
    onInput({ file, bytes: Buffer.byteLength(css) });
    return css;
  }

  async function compiled(css: string, base: string): Promise<string> {
    const { compile } = await tailwindOf(base);
    const sheet = await compile(css, { base, ...loaders(readStyleSheet) });
    return sheet.build(candidates(await program()));
  }

  return {
    name: 'tailwind',
    setup(build) {
      const root = build.initialOptions.absWorkingDir ?? '';
      const placeOf = (path: string) => ({ file: relative(root, path), line: 1, column: 0 });
      build.onLoad({ filter: /\.css$/, namespace: 'file' }, async ({ path }) => {
        const css = await readStyleSheet(path);
        if (!DIRECTIVE.test(css)) return { contents: css, loader: 'css' };
        return await compiled(css, dirname(path)).then(
          (contents) => ({ contents, loader: 'css' }),
          ({ message }: Error) => ({ errors: [{ text: message, location: placeOf(path) }] }),
        );
      });
    },
  };
}

async function tailwindOf(folder: string): Promise<Tailwind> {
  const url = await resolveUserModule(folder, 'tailwindcss');
  if (url === undefined) throw new Error('Tailwind CSS is not installed: npm install tailwindcss');
  const module = (await import(url)) as Partial<Tailwind>;
  if (!module.compile) throw new Error('Tailwind CSS must be of version 4 or newer');
  return module as Tailwind;
}

function loaders(readStyleSheet: (file: string) => Promise<string>): Loaders {
  return {
    async loadStylesheet(id, from) {
      // A bare name in a style sheet may also refer to its own folder.
      const url =
        (await resolveUserModule(from, `./${id}`, 'style')) ?? (await resolveUserModule(from, id, 'style'));
      if (url === undefined) throw new Error(`Could not resolve "${id}"`);
      const path = fileURLToPath(url);
      return { path, base: dirname(path), content: await readStyleSheet(path) };
    },
    async loadModule(id, from) {
      const url = await resolveUserModule(from, id);
      if (url === undefined) throw new Error(`Could not resolve "${id}"`);
      const module = (await import(url)) as { default?: unknown };
      const path = fileURLToPath(url);
      return { path, base: dirname(path), module: module.default ?? module };
    },
  };
}

/** Anything between spaces or quotes may be a class; Tailwind knows which ones are. */
function candidates(program: string): string[] {
  return [...new Set(program.split(/[\s"'`\\]+/))];
}
