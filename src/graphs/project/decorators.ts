import { dirname, extname } from 'node:path';
import type { createJiti, JitiOptions } from 'jiti';
import { type Compiler, findCompiler, type TypeScript } from './compiler.ts';

/** Outside of comments with lines of their own. What only looks like one costs time, not correctness. */
const DECORATOR = /^(?![^\S\n]*(?:\/?\*|\/\/))(?:.*[\s{(,;])?@[\w$(]/m;

/**
 * jiti's translation, with decorators translated by the TypeScript compiler first: jiti cannot decorate fields, and
 * without the package `reflect-metadata` it loses decorated methods.
 */
export function translationOfDecorators(jiti: typeof createJiti): NonNullable<JitiOptions['transform']> {
  return (options) => {
    const { filename = '/', source, ts } = options;
    const own = ts && DECORATOR.test(source) ? withoutDecorators(source, filename) : undefined;
    const translated = jiti(filename, { fsCache: false }).transform({ ...options, source: own ?? source });
    return { code: translated };
  };
}

/** The source as JavaScript without decorators; `undefined` without a compiler. */
function withoutDecorators(source: string, file: string): string | undefined {
  const ts = findCompiler(dirname(file));
  if (ts === undefined) return undefined;
  const compilerOptions = optionsFor(ts, file);
  return ts.transpileModule(source, { fileName: file, compilerOptions }).outputText;
}

/** What the nearest tsconfig.json sets for decorators and fields, with modules and JSX left to jiti. */
function optionsFor(ts: Compiler, file: string): TypeScript.CompilerOptions {
  const config = ts.findConfigFile(dirname(file), ts.sys.fileExists);
  const content = config === undefined ? {} : ts.readConfigFile(config, ts.sys.readFile).config;
  // Without its files, which are not needed.
  const parsed = ts.parseJsonConfigFileContent(
    { ...content, files: [], include: [] },
    ts.sys,
    dirname(config ?? file),
  );
  const { experimentalDecorators, emitDecoratorMetadata, useDefineForClassFields, target } = parsed.options;
  const { ES2022 } = ts.ScriptTarget;
  return {
    experimentalDecorators: experimentalDecorators ?? false,
    emitDecoratorMetadata: emitDecoratorMetadata ?? false,
    // The compiler's default follows the project's target, not that of this translation.
    useDefineForClassFields: useDefineForClassFields ?? (target ?? ES2022) >= ES2022,
    target: ES2022,
    module: ts.ModuleKind.ESNext,
    ...(extname(file).endsWith('x') && { jsx: ts.JsxEmit.Preserve }),
  };
}
