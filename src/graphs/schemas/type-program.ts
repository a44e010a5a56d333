import { dirname } from 'node:path';
import type { Compiler, TypeScript } from '../project/compiler.ts';

export interface Project {
  readonly program: TypeScript.Program;
  /** Files that the types depend on: the project's sources, its tsconfig.json, the packages' package.json. */
  readonly dependencies: readonly string[];
}

/** The program of these files with the options of a tsconfig.json. Emits nothing, and ignores type errors. */
export function openProject(ts: Compiler, files: readonly string[], config: string | undefined): Project {
  const options = optionsOf(ts, config);
  const manifests = new Set<string>();
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (file) => {
    if (file.endsWith('/package.json')) manifests.add(file);
    return readFile(file);
  };
  const program = ts.createProgram({ rootNames: files, options, host });
  const sources = program
    .getSourceFiles()
    .map(({ fileName }) => fileName)
    .filter((file) => !file.includes('/node_modules/'));
  return { program, dependencies: [...new Set([...sources, ...manifests, ...(config ? [config] : [])])] };
}

function optionsOf(ts: Compiler, config: string | undefined): TypeScript.CompilerOptions {
  const forced: TypeScript.CompilerOptions = {
    noEmit: true,
    // Otherwise null and undefined vanish from types.
    strict: true,
    skipLibCheck: true,
    allowJs: true,
    allowImportingTsExtensions: true,
    composite: false,
    incremental: false,
  };
  if (config === undefined) return { ...defaults(ts), ...forced };
  const { config: content = {} } = ts.readConfigFile(config, ts.sys.readFile);
  // The files of `include` are not needed, and searching for them takes time.
  const parsed = ts.parseJsonConfigFileContent(
    { ...content, files: [], include: [] },
    ts.sys,
    dirname(config),
  );
  return { ...defaults(ts), ...parsed.options, ...forced };
}

/** Matches how graphs are loaded: modern modules, packages by their `exports`. */
function defaults(ts: Compiler): TypeScript.CompilerOptions {
  return {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    jsx: ts.JsxEmit.Preserve,
  };
}
