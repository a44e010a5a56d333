import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Jiti, JitiOptions } from 'jiti';
import { isErrorLike } from '../../core/failure.ts';
import { readTsconfig, type TsconfigPaths } from './tsconfig.ts';

/**
 * Calls `use` with a jiti that resolves imports of `file` by the paths of the nearest tsconfig.json. If one of the
 * configurations that it, or that of an imported package, extends is not installed, jiti throws; `use` is then called
 * again with the paths that are known without it, which the whole project shares.
 */
export async function withTsconfigPaths<T>(
  file: string,
  options: JitiOptions,
  use: (jiti: Jiti) => Promise<T>,
): Promise<T> {
  // Imported late: JavaScript does not need it.
  const { createJiti } = await import('jiti');
  try {
    return await use(createJiti(file, { ...options, tsconfigPaths: true }));
  } catch (error) {
    const config = isMissingConfig(error) ? readTsconfig(dirname(file)) : undefined;
    if (config === undefined) throw error;
    return await use(createJiti(file, { ...options, tsconfigPaths: reducedConfig(config) }));
  }
}

/** The error of jiti's tsconfig reader, which has no code. Node's errors about files have one. */
function isMissingConfig(error: unknown): boolean {
  return isErrorLike(error) && !('code' in error) && /^File '.+' not found\.$/.test(error.message);
}

/** Files by content. */
const written = new Map<string, string>();

/** A tsconfig.json with nothing but these paths. Modules read it whenever they are loaded, until the process ends. */
function reducedConfig({ base_url: baseUrl, paths }: TsconfigPaths): string {
  const text = JSON.stringify({ compilerOptions: { baseUrl, paths } });
  const known = written.get(text);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-tsconfig-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'tsconfig.json');
  writeFileSync(file, text);
  written.set(text, file);
  return file;
}
