import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import type { BuildOptions, OutputFile } from 'esbuild';
import { buildError } from './build-error.ts';
import { entryProgram, globalName } from './entry.ts';
import { inputsOf, type UiInput } from './inputs.ts';
import { sharedModules } from './shared-modules.ts';
import { tailwind } from './tailwind.ts';

/** The components of one file of the user's project. */
export interface UiSource {
  readonly name: string;
  /** From `root`. */
  readonly path: string;
  readonly root: string;
  /** Modules the page provides, beside those it always does. */
  readonly shared: readonly string[];
}

export interface UiAsset {
  readonly file: string;
  readonly type: string;
  readonly content: Uint8Array;
  /** Changes with the content. */
  readonly etag: string;
}

export interface UiBundle {
  readonly name: string;
  /** The variable in which a page finds the program. */
  readonly global: string;
  /** A program, and a style sheet when there is one. */
  readonly assets: readonly UiAsset[];
  /** Of the project. */
  readonly inputs: readonly UiInput[];
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Become part of the bundle: within a page of somebody else there is nothing that an address could be relative to. */
const INLINED = ['.png', '.jpg', '.jpeg', '.gif', '.webp', '.avif', '.svg', '.woff', '.woff2', '.ttf'];

/** Throws `UiBuildError`, which says where it went wrong. */
export async function bundleUi(source: UiSource): Promise<UiBundle> {
  const file = resolve(source.root, source.path);
  if (!(await stat(file).catch(() => undefined))?.isFile()) {
    throw buildError(source.name, new Error(`there is no file ${source.path}`));
  }
  const sheets: UiInput[] = [];
  const { outputFiles, metafile } = await withCompiler(({ build }) => {
    const options = buildOptions(source, file);
    const plugins = [
      ...options.plugins,
      tailwind({ program: () => programOf(build, options), onInput: (input) => sheets.push(input) }),
    ];
    return build({ ...options, plugins, metafile: true });
  }).catch((cause: Error) => {
    throw buildError(source.name, cause);
  });
  return {
    name: source.name,
    global: globalName(source.name),
    assets: outputFiles.map(asset),
    inputs: inputsOf(metafile, source.root, sheets),
  };
}

/** The program without its style sheets. Empty when it does not build, which the build of both then tells. */
async function programOf(build: Build, options: BuildOptions): Promise<string> {
  const plain = { ...options, loader: { ...options.loader, '.css': 'empty' } } as const;
  const built = await build({ ...plain, write: false }).catch(() => undefined);
  return built?.outputFiles[0]?.text ?? '';
}

let users = 0;

/** The compiler is a process of its own; it ends with its last user, and nothing of it is loaded before the first. */
async function withCompiler<T>(use: (esbuild: typeof import('esbuild')) => Promise<T>): Promise<T> {
  const esbuild = await import('esbuild');
  users += 1;
  try {
    return await use(esbuild);
  } finally {
    users -= 1;
    if (users === 0) await esbuild.stop();
  }
}

type Build = typeof import('esbuild')['build'];

const ENTRY = 'entrypoint';

function buildOptions({ name, root, shared }: UiSource, file: string) {
  return {
    stdin: { contents: entryProgram(file), resolveDir: root, sourcefile: ENTRY, loader: 'js' },
    absWorkingDir: root,
    outdir: root,
    entryNames: ENTRY,
    write: false,
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: globalName(name),
    target: 'es2020',
    jsx: 'automatic',
    // Also makes it the production form of the packages that have one.
    minify: true,
    keepNames: true,
    loader: Object.fromEntries(INLINED.map((extension) => [extension, 'dataurl'])),
    plugins: [sharedModules(shared)],
    logLevel: 'silent',
  } satisfies BuildOptions;
}

function asset({ path, contents }: OutputFile): UiAsset {
  const file = basename(path);
  const digest = createHash('sha256').update(contents).digest('base64url');
  return { file, type: TYPES[extname(file)] as string, content: contents, etag: `"${digest}"` };
}
