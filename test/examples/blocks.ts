import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { needs } from '../support/needs.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/** The Node of the repository, whatever the machine's own is. */
export const NODE = join(ROOT, 'node_modules/.bin/node');

/** Where the documentation expects the server. Tests replace it, and nothing else. */
const ADDRESS = 'http://127.0.0.1:8123';

/** A fenced block of code in a Markdown file. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The Markdown files in a folder of the repository and below it, by their paths. */
export function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`)
    .sort();
}

/** The blocks of a page in their order, those in lists without their indentation. */
export function blocksOf(page: string): Block[] {
  const markdown = readFileSync(join(ROOT, page), 'utf8');
  return [...markdown.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', text = '']) => ({
      language,
      // In a list.
      text: indent === '' ? text : text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** Blocks of shell that call a running server, as opposed to those that start one. */
export function callsOf(page: string): string[] {
  return blocksOf(page)
    .filter(({ language, text }) => language === 'sh' && /\bcurl\b|^URL=/m.test(text))
    .map(({ text }) => text);
}

/** Blocks that say in their first line which file they are, such as `// src/agent.ts`, by that name. */
export function filesOf(page: string): Record<string, string> {
  const named = blocksOf(page).flatMap(({ text }) => {
    const [, name] = /^(?:\/\/|#) ([\w./[\]-]+\.\w+)(?::|$)/m.exec(text.split('\n', 1)[0] ?? '') ?? [];
    return name === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(named);
}

/** The only block of a page in this language that has this text in it. */
export function onlyBlock(page: string, language: string, part: string): string {
  const found = blocksOf(page).filter((block) => block.language === language && block.text.includes(part));
  if (found.length !== 1) throw new Error(`${page}: ${found.length} blocks of ${language} with ${part}`);
  return (found[0] as Block).text;
}

export interface Outcome {
  readonly output: string;
  /** HTTP statuses of its calls, in order. */
  readonly statuses: number[];
  /** What went to standard error beside them. */
  readonly complaints: string;
}

/** Every call also reports its status, where nothing else is printed. */
const PRELUDE = `curl() { command curl -w '%{stderr}HTTP %{http_code}\\n' "$@"; }\n`;
const NEXT = '\n-- next block --\n';

/** A stream that a reader cuts after a few seconds: a busy machine takes longer for its beginning. */
const CUT_AFTER = /(?<= )(-m|--max-time) \d+/g;

/** Runs blocks one after the other in one shell, as a reader would. */
export async function inShell(blocks: readonly string[], url: string): Promise<Outcome[]> {
  const next = `printf '${NEXT.replaceAll('\n', '\\n')}'`;
  needs('curl');
  const mark = `${next}; ${next} >&2\n`;
  const { stdout, stderr } = await run(
    'bash',
    ['-s'],
    PRELUDE + blocks.join(mark).replaceAll(ADDRESS, url).replaceAll(CUT_AFTER, '$1 10'),
  );
  const errors = stderr.split(NEXT);
  return stdout.split(NEXT).map((output, i) => {
    const lines = (errors[i] ?? '').split('\n');
    const statuses = lines.flatMap((line) => /^HTTP (\d+)$/.exec(line)?.[1] ?? []).map(Number);
    return { output, statuses, complaints: lines.filter((line) => !/^(HTTP \d+)?$/.test(line)).join('\n') };
  });
}

/** Runs a program that is fed by standard input. */
export async function inProgram(command: string, args: string[], code: string, url: string): Promise<string> {
  const { stdout, stderr, status } = await run(command, args, code.replaceAll(ADDRESS, url));
  if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

async function run(command: string, args: string[], input: string) {
  if (command === 'bash') needs('bash');
  const child = spawn(command, args, { cwd: ROOT });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('close', resolve).on('error', reject),
  );
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, status };
}
