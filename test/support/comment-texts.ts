import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDERS = ['src', 'studio/src'];

export interface CommentText {
  /** From the repository's root, with the line on which the comment begins. */
  readonly at: string;
  /** On one line. */
  readonly text: string;
}

/** The comments of the server and of Studio that have lines of their own, without those of generated files. */
export function commentTexts(): CommentText[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.d)\.tsx?$/.test(file))
      .flatMap((file) => commentsOf(`${folder}/${file}`)),
  );
}

function commentsOf(file: string): CommentText[] {
  const comments: { at: string; lines: string[] }[] = [];
  let current: string[] | undefined;
  for (const [index, line] of readFileSync(join(ROOT, file), 'utf8').split('\n').entries()) {
    const [, text] = /^\s*(?:\/\*\*?|\*\/?|\/\/|\{\/\*)(.*)$/.exec(line) ?? [];
    if (text === undefined) {
      current = undefined;
      continue;
    }
    if (current === undefined) {
      current = [];
      comments.push({ at: `${file}:${index + 1}`, lines: current });
    }
    current.push(text.replace(/\*\/\}?$/, '').trim());
  }
  return comments.map(({ at, lines }) => ({ at, text: lines.join(' ').trim() }));
}
