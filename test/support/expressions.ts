import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import vm from 'node:vm';
import type TypeScript from 'typescript-compiler';
import { cpuMs } from './cpu-time.ts';

const SRC = resolve(import.meta.dirname, '../../src');

/** A regular expression as it stands in the code. */
export interface Expression {
  /** From `src`. */
  readonly file: string;
  /** With its slashes and flags, or the call that makes it. */
  readonly text: string;
}

/** Every literal of `src`, and every call of `RegExp`. */
export async function expressionsOfSources(): Promise<{ literals: Expression[]; made: Expression[] }> {
  const { default: ts }: { default: typeof TypeScript } = await import('typescript-compiler');
  const literals: Expression[] = [];
  const made: Expression[] = [];
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(isSource)) {
    const text = readFileSync(join(SRC, file), 'utf8');
    const visit = (node: TypeScript.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) literals.push({ file, text: node.text });
      else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && isRegExp(node.expression))
        made.push({ file, text: node.getText() });
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  }
  return { literals, made };
}

export function sourceOf({ text }: Expression): { source: string; flags: string } {
  const end = text.lastIndexOf('/');
  return { source: text.slice(1, end), flags: text.slice(end + 1) };
}

/** Characters beside those of the expression itself: a letter, a digit, spaces, line ends, what is in no class. */
const USUAL = ['a', '0', '_', ' ', '\n', '"', "'", '\\', '/', '.', '-', ':', '@', 'é', '\0'];
/**
 * Long texts that are hard for this expression, if it is not linear: its own characters, words and pairs of them again
 * and again, behind its beginning and before an end that fits nothing.
 */
export function hardTextsFor(expression: Expression, length: number): string[] {
  const { source } = sourceOf(expression);
  const plain = source.replace(/\\[a-zA-Z]/g, '');
  const own = [...new Set(plain.replace(/[\\^$|()[\]{}*+?]/g, ''))].slice(0, 12);
  const escaped = [...source.matchAll(/\\([^a-zA-Z0-9])/g)].map(([, character = '']) => character);
  const words = (plain.replaceAll('\\', '').match(/[^()[\]{}|*+?^$]{2,}/g) ?? []).slice(0, 8);
  const pumps = [...new Set([...USUAL, ...own, ...escaped, ...words])];
  const filled = (pump: string) => pump.repeat(Math.ceil(length / pump.length));
  const beginnings = ['', ...escaped.slice(0, 2), ...words.slice(0, 2)];
  return [
    ...pumps.flatMap((pump) => beginnings.map((beginning) => `${beginning}${filled(pump)}\0`)),
    ...pumps.map((pump) => `${filled(pump)}\n`),
    ...pumps.flatMap((pump) => [`${filled(`${pump}a`)}\0`, `${filled(`${pump} `)}\0`]),
  ];
}

const SEARCH = new vm.Script("text.replace(expression, '').length");

/** The first of the texts in which it takes longer, ms of CPU, to find all matches, at each of three tries. */
export function slowOf(
  expression: Expression,
  texts: readonly string[],
  limit_ms: number,
): string | undefined {
  const { source, flags } = sourceOf(expression);
  const global = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
  const context = vm.createContext({ expression: global, text: '' });
  const isSlow = (text: string) => {
    context['text'] = text;
    let isEndless = false;
    const used_ms = cpuMs(() => {
      try {
        // Some expressions would not come to an end before the sun does.
        SEARCH.runInContext(context, { timeout: 100 * limit_ms });
      } catch {
        isEndless = true;
      }
    });
    return isEndless || used_ms > limit_ms;
  };
  return texts.find((text) => [1, 2, 3].every(() => isSlow(text)));
}

function isSource(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file);
}

function isRegExp(callee: TypeScript.Expression): boolean {
  return callee.getText() === 'RegExp';
}
