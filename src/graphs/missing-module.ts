import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isErrorLike, safely } from '../core/failure.ts';

/** What Node says, of `require` and of `import`; the latter names the importing file, too. */
const MISSING = /^Cannot find (?:module|package) '([^']+)'(?: imported from (.+))?/;
const PACKAGE = /^(?:@[\w.~-]+\/)?[\w~-][\w.~-]*/;

/** Which file of the project imports what is not there, and what to do; undefined for every other error. */
export function missingModule(error: unknown, root: string): string | undefined {
  if (!isErrorLike(error)) return undefined;
  const { code, requireStack } = error as { code?: unknown; requireStack?: unknown };
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const [, wanted, importer] = MISSING.exec(error.message) ?? [];
  const file = Array.isArray(requireStack) ? requireStack[0] : importer;
  if (wanted === undefined || typeof file !== 'string') return undefined;
  const place = placeOf(file, wanted, root);
  return place && `${place} imports '${shown(wanted, root)}', ${reason(wanted)}`;
}

function reason(wanted: string): string {
  if (isPath(wanted)) return 'and there is no such file';
  const [name] = PACKAGE.exec(wanted) ?? [];
  // An alias such as `@/tools`.
  if (name === undefined) return 'which is neither a package nor in the paths of tsconfig.json';
  return `which is not installed: npm install ${name}`;
}

function isPath(wanted: string): boolean {
  return /^(?:\.|\/|file:|[A-Za-z]:[\\/])/.test(wanted);
}

/** Node makes paths absolute in what it says of `import`. */
function shown(wanted: string, root: string): string {
  return wanted.startsWith(`${root}/`) ? relative(root, wanted) : wanted;
}

/** `src/agent.ts:3`; undefined for a file outside of the project, of which nothing is told. */
function placeOf(importer: string, wanted: string, root: string): string | undefined {
  const file = importer.startsWith('file:') ? fileURLToPath(importer) : importer;
  const path = relative(root, file);
  if (path.startsWith('..')) return undefined;
  const name = wanted.split('/').at(-1) as string;
  const lines = safely(() => readFileSync(file, 'utf8').split('\n')) ?? [];
  const line = lines.findIndex((text) => /\b(?:import|from|require)\b/.test(text) && text.includes(name));
  return line < 0 ? path : `${path}:${line + 1}`;
}
