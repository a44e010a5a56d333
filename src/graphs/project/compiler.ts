import { createRequire } from 'node:module';
import type * as TypeScript from 'typescript-compiler';
import { PACKAGE_ROOT } from '../../core/package-files.ts';

export type Compiler = typeof TypeScript;
export type { TypeScript };

/**
 * The project's own TypeScript if it has a type checker API (5 and 6 do, 7 does not), otherwise the server's. Returns
 * `undefined` if neither is installed.
 */
export function findCompiler(folder: string): Compiler | undefined {
  return requireCompiler(folder, 'typescript') ?? requireCompiler(PACKAGE_ROOT, 'typescript-compiler');
}

function requireCompiler(folder: string, name: string): Compiler | undefined {
  try {
    const compiler: Partial<Compiler> = createRequire(`${folder}/`)(name);
    const major = Number(compiler.version?.split('.')[0]);
    return compiler.createProgram && major >= 5 ? (compiler as Compiler) : undefined;
  } catch {
    return undefined;
  }
}
