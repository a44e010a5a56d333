import MiniSearch from 'minisearch';
import { anchorOf, type GuideMatch, type GuideSection, MAX_QUERY, titleOf } from './contents.ts';

/** What is below one heading of a page. */
export interface GuidePart {
  readonly id: number;
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  readonly question: string;
  readonly text: string;
}

export interface Guide {
  readonly path: string;
  readonly markdown: string;
}

const MAX_MATCHES = 10;
const EXCERPT = 220;

/** Words of every question. */
const STOP_WORDS = new Set(
  'a an and any are as at be by can do does for from have how i if in is it its me my of on only or so some such than that the their them there these they this to use want was what when where which who why will with without you your'.split(
    ' ',
  ),
);

/** What a search looks through. Pages that the table of contents lists are also found by their question. */
export function partsOfGuides(guides: readonly Guide[], sections: readonly GuideSection[]): GuidePart[] {
  const questions = new Map<string, string>();
  for (const { path, question } of sections.flatMap(({ entries }) => entries))
    questions.set(path, `${questions.get(path) ?? ''} ${question}`.trim());
  return guides
    .flatMap(({ path, markdown }) => partsOf(path, markdown, questions.get(path) ?? ''))
    .map((part, id): GuidePart => ({ id, ...part }));
}

/** Full-text search in memory, of a server and of the site's pages in a browser. */
export function guideSearch(parts: readonly GuidePart[]) {
  const index = new MiniSearch<GuidePart>({
    fields: ['title', 'heading', 'question', 'text'],
    processTerm,
    searchOptions: {
      boost: { title: 5, heading: 3, question: 4 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.15 : false),
      boostDocument: (id) => weightOf((parts[id] as GuidePart).path),
    },
  });
  index.addAll(parts);

  return (query: string): GuideMatch[] => {
    const best = new Map<string, { part: GuidePart; score: number }>();
    for (const { id, score } of index.search(query.slice(0, MAX_QUERY))) {
      const part = parts[Number(id)] as GuidePart;
      const found = best.get(part.path);
      // The best part decides; further ones tell pages apart that mention a word once from pages about it.
      if (found === undefined) best.set(part.path, { part, score });
      else found.score += score * 0.05;
    }
    return [...best.values()]
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_MATCHES)
      .map(({ part: { path, title, heading, text } }) => ({
        ...{ path, title, heading },
        anchor: heading === title ? '' : anchorOf(heading),
        excerpt: text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text,
      }));
  };
}

/** Pages for contributors and lists of names have all the words, and answer few questions of users. */
function weightOf(path: string): number {
  if (/^(?:internals|decisions)\//.test(path)) return 0.3;
  return path === 'api.md' || path === 'configuration.md' ? 0.4 : 1;
}

/** Lower case, without endings of the plural and of verbs; null for words of every question. */
function processTerm(term: string): string | null {
  const word = term.toLowerCase();
  if (STOP_WORDS.has(word)) return null;
  return word.length > 4
    ? word.replace(/(?:ies|y)$/, 'i').replace(/(?:ing|ed|es|s|e)$/, '')
    : word.replace(/s$/, '');
}

/** Splits a page at its headings; `#` in a block of code does not count. */
function partsOf(path: string, markdown: string, question: string): Omit<GuidePart, 'id'>[] {
  const title = titleOf(markdown) ?? path;
  const found: { heading: string; lines: string[] }[] = [{ heading: title, lines: [] }];
  let isCode = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const [, heading] = isCode ? [] : (/^##+ (.+)$/.exec(line) ?? []);
    if (heading === undefined) found.at(-1)?.lines.push(line);
    else found.push({ heading, lines: [] });
  }
  return found.map(({ heading, lines }) => ({ path, title, heading, question, text: plainText(lines) }));
}

function plainText(lines: readonly string[]): string {
  return lines
    .filter((line) => !/^(?:# |```|\|[-| ]+\|$)/.test(line))
    .map((line) => line.replace(/^> ?/, ''))
    .join(' ')
    .replace(/\]\([^()]*\)/g, '')
    .replace(/[*`|[\]]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
