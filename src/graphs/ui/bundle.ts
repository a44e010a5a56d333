import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import type { BuildFailure, BuildOptions, OutputFile } from 'esbuild';
import { ServerError } from '../../core/errors.ts';
import { entryProgram, globalName } from './entry.ts';
import { sharedModules } from './shared-modules.ts';

/** Components that do not build. 422 as for a graph that does not load: nothing but a change to them helps. */
export class UiBuildError extends ServerError {
  readonly status = 422;
}

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
  /** Files of the project that it was made of, with their sizes. */
  readonly inputs: readonly { readonly file: string; readonly bytes: number }[];
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
    throw new UiBuildError(`UI '${source.name}' does not build: there is no file ${source.path}`);
  }
  const { outputFiles, metafile } = await withCompiler(({ build }) =>
    build(buildOptions(source, file)),
  ).catch((cause: BuildFailure) => {
    throw new UiBuildError(`UI '${source.name}' does not build: ${readable(cause)}`, { cause });
  });
  const inputs = Object.entries(metafile.inputs)
    .filter(([path]) => isOfProject(path))
    .map(([path, { bytes }]) => ({ file: resolve(source.root, path), bytes }));
  return { name: source.name, global: globalName(source.name), assets: outputFiles.map(asset), inputs };
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

const ENTRY = 'entrypoint';

function buildOptions({ name, root, shared }: UiSource, file: string) {
  return {
    stdin: { contents: entryProgram(file), resolveDir: root, sourcefile: ENTRY, loader: 'js' },
    absWorkingDir: root,
    outdir: root,
    entryNames: ENTRY,
    write: false,
    metafile: true,
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

/** Not what is made up while it builds, and not a package: one that changes under a running server is asking for more. */
function isOfProject(path: string): boolean {
  return path !== ENTRY && !/^[\w-]+:/.test(path) && !path.split('/').includes('node_modules');
}

/** More would not help who reads it. */
const MAX_ERRORS = 5;

function readable({ errors, message }: BuildFailure): string {
  if (errors === undefined) return message;
  return errors
    .slice(0, MAX_ERRORS)
    .map(({ location, text }) =>
      location && location.file !== ENTRY
        ? `${location.file}:${location.line}:${location.column}: ${text}`
        : text,
    )
    .join('; ');
}
