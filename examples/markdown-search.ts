import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One section of a Markdown file, and how well it answers the query. */
export interface Passage {
  file: string;
  heading: string;
  text: string;
  score: number;
}

/** Words that say nothing about the subject of a question. */
const STOP_WORDS = new Set(
  `a about all an and any are as at be by can could do does did for from get give had has have how i if in is it its
  many may me much must my need needs no not of on or our please say says send should show so some tell than that the
  their them there they this to up us was we what when where which who why will with would you your`.split(
    /\s+/,
  ),
);

/** Endings are cut, so that `policies` finds `policy` and `returned` finds `return`. */
const ENDING = /(yings?|ements?|ments?|ations?|ings?|ied|ies|es|ed|s|e|y)$/;

/** Ranks the sections of all Markdown files in a folder by the words they share with the query; best first. */
export async function searchMarkdown(folder: string, query: string, limit: number): Promise<Passage[]> {
  const passages = await readPassages(folder);
  const words = passages.map(({ heading, text }) => ({
    heading: new Set(keywords(heading)),
    text: new Set(keywords(text)),
  }));
  const wanted = [...new Set(keywords(query))].map((word) => {
    const found = words.filter(({ heading, text }) => heading.has(word) || text.has(word)).length;
    // A word that few sections have says more about the query than one that most of them have.
    return { word, weight: found === 0 ? 0 : Math.log(1 + passages.length / found) };
  });
  return passages
    .map((passage, i) => ({
      ...passage,
      score: wanted.reduce((sum, { word, weight }) => sum + weight * occurrences(word, words[i]!), 0),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

/** A heading names what its section is about, so it counts twice. */
function occurrences(word: string, { heading, text }: { heading: Set<string>; text: Set<string> }): number {
  return (heading.has(word) ? 2 : 0) + (text.has(word) ? 1 : 0);
}

async function readPassages(folder: string): Promise<Passage[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort();
  const sections = await Promise.all(
    files.map(async (file) => sectionsOf(file, await readFile(join(folder, file), 'utf8'))),
  );
  return sections.flat();
}

/** The heading of a section carries the title of its file: `Time off: Carry-over`. */
function sectionsOf(file: string, markdown: string): Passage[] {
  const [preface = '', ...sections] = markdown.split(/^## /m);
  const title = /^# (.+)$/m.exec(preface)?.[1] ?? file;
  return sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return {
      file,
      heading: `${title}: ${heading}`,
      text: lines.join(' ').replace(/\s+/g, ' ').trim(),
      score: 0,
    };
  });
}

function keywords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => (word.length > 3 ? word.replace(ENDING, '') : word));
}
