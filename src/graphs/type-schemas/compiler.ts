import { createRequire } from 'node:module';
import type * as TypeScript from 'typescript-compiler';

export type Compiler = typeof TypeScript;
export type { TypeScript };

/**
 * The project's own TypeScript where it can be asked about types (5 and 6 can, 7 cannot), else the server's.
 * Undefined when neither is installed.
 */
export function findCompiler(folder: string): Compiler | undefined {
  return usable(folder, 'typescript') ?? usable(import.meta.dirname, 'typescript-compiler');
}

function usable(folder: string, name: string): Compiler | undefined {
  try {
    const compiler: Partial<Compiler> = createRequire(`${folder}/`)(name);
    const major = Number(compiler.version?.split('.')[0]);
    return compiler.createProgram && major >= 5 ? (compiler as Compiler) : undefined;
  } catch {
    return undefined;
  }
}
