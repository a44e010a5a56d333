import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import type { BuildFailure, BuildOptions, OutputFile, Plugin } from 'esbuild';
import { ServerError } from '../../core/errors.ts';
import { inputsOf, type UiInput } from './bundle-inputs.ts';
import { tailwind } from './tailwind.ts';

/** The components of one file of the user's project. */
export interface UiSource {
  readonly name: string;
  /** Relative to `root`. */
  readonly path: string;
  readonly root: string;
  /** Modules that the page provides, besides those it always does. */
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
  /** Global variable of the program in the page. */
  readonly global: string;
  /** A program, and a style sheet if there is one. */
  readonly assets: readonly UiAsset[];
  /** Source files of the project. */
  readonly inputs: readonly UiInput[];
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Inlined into the bundle: in a foreign page there is no base for relative URLs. */
const INLINED = ['.png', '.jpg', '.jpeg', '.gif', '.webp', '.avif', '.svg', '.woff', '.woff2', '.ttf'];

/** Throws `UiBuildError` with the location of the error. */
export async function bundleUi(source: UiSource): Promise<UiBundle> {
  const file = resolve(source.root, source.path);
  if (!(await stat(file).catch(() => undefined))?.isFile()) {
    throw buildError(source.name, new Error(`there is no file ${source.path}`));
  }
  const styleSheets: UiInput[] = [];
  const { outputFiles, metafile } = await withCompiler(({ build }) => {
    const options = buildOptions(source, file);
    const plugins = [
      ...options.plugins,
      tailwind({ program: () => programOf(build, options), onInput: (input) => styleSheets.push(input) }),
    ];
    return build({ ...options, plugins, metafile: true });
  }).catch((cause: Error) => {
    throw buildError(source.name, cause);
  });
  return {
    name: source.name,
    global: globalName(source.name),
    assets: outputFiles.map(asset),
    inputs: inputsOf(metafile, source.root, styleSheets),
  };
}

/** The program without style sheets. Empty if it does not build; the main build then reports the error. */
async function programOf(build: Build, options: BuildOptions): Promise<string> {
  const plain = { ...options, loader: { ...options.loader, '.css': 'empty' } } as const;
  const built = await build({ ...plain, write: false }).catch(() => undefined);
  return built?.outputFiles[0]?.text ?? '';
}

let users = 0;

/** esbuild is a separate process: it is loaded with the first build, and stopped after the last concurrent one. */
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
    // Also selects the production build of packages that have one.
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

/** Components that do not build. 422, as for a graph that fails to load: only a change to them helps. */
export class UiBuildError extends ServerError {
  readonly status = 422;
}

/** Limit of the reported errors. */
const MAX_ERRORS = 5;

/** `cause`: a failure of the bundler, which has locations, or any other error. */
function buildError(name: string, cause: Error | BuildFailure): UiBuildError {
  const reasons = 'errors' in cause ? cause.errors.slice(0, MAX_ERRORS).map(errorText) : [cause.message];
  return new UiBuildError(`UI '${name}' does not build: ${reasons.join('; ')}`, { cause });
}

/** Relative to the project's folder. An error without a file is in the entry program. */
function errorText({ location, text }: BuildFailure['errors'][number]): string {
  return location?.file.includes('.')
    ? `${location.file}:${location.line}:${location.column}: ${text}`
    : text;
}

/**
 * The program that a browser loads: the user's components and `render`. The official clients call `render` with the id
 * of the element to render under, and receive the component through their store on the window (contract §2.9).
 */
function entryProgram(file: string): string {
  return `import components from ${JSON.stringify(file)};

export function render(name, shadowRootId) {
  const component = components[name];
  if (!component) {
    throw new Error('There is no component "' + name + '", only: ' + Object.keys(components).join(', '));
  }
  const element = document.createElement('div');
  document.getElementById(shadowRootId).shadowRoot.appendChild(element);
  window[Symbol.for('LGUI_EXT_STORE')].respond(shadowRootId, component, element);
}
`;
}

/** Global variable of the program in the page. */
function globalName(name: string): string {
  return `__LGUI_${name.replace(/[^a-zA-Z0-9]/g, '_')}`;
}

/** Provided by the official client (contract §2.9): two copies of React on a page do not work together. */
const ALWAYS_SHARED = ['react', 'react-dom', '@langchain/langgraph-sdk'];

/** Namespace of the stand-ins for shared modules. */
const SHARED_NAMESPACE = 'shared';

/** Externalises these packages and their subpaths: the page provides them at run time. */
function sharedModules(extra: readonly string[]): Plugin {
  const names = [...ALWAYS_SHARED, ...extra];
  const isShared = (path: string) => names.some((name) => path === name || path.startsWith(`${name}/`));
  return {
    name: 'shared-modules',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
        isShared(path) ? { path, namespace: SHARED_NAMESPACE } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: SHARED_NAMESPACE }, ({ path }) => ({
        contents: `module.exports = globalThis[Symbol.for("LGUI_REQUIRE")](${JSON.stringify(path)});`,
      }));
    },
  };
}
