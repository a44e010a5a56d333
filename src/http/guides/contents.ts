/** Characters of a search. */
export const MAX_QUERY = 200;

/** A page as the table of contents names it. */
export interface GuideEntry {
  /** Relative to the folder of the guides. */
  readonly path: string;
  readonly label: string;
  /** The question that the page answers. */
  readonly question: string;
}

export interface GuideSection {
  readonly title: string;
  readonly entries: readonly GuideEntry[];
}

/** A page that answers a query, with its best part. */
export interface GuideMatch {
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  /** Empty for the beginning of the page. */
  readonly anchor: string;
  readonly excerpt: string;
}

/** The id of a heading that links within the guides use. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
}

/** The heading of a page; undefined without one. */
export function titleOf(markdown: string): string | undefined {
  return /^# (.+)$/m.exec(markdown)?.[1];
}

const HEADING = /^## (.+)$/;
const ROW = /^\| ([^|]+) \| \[([^\]]+)\]\(([^)]+)\) \|$/;

/** The sections and pages that README.md of the guides lists; pages outside of their folder are left out. */
export function contentsOf(readme: string): GuideSection[] {
  const sections: { title: string; entries: GuideEntry[] }[] = [];
  for (const line of readme.split('\n')) {
    const [, title] = HEADING.exec(line) ?? [];
    if (title !== undefined) sections.push({ title, entries: [] });
    const [, question = '', label = '', path] = ROW.exec(line) ?? [];
    if (path !== undefined && !path.split('/').includes('..'))
      sections.at(-1)?.entries.push({ path, label, question });
  }
  return sections;
}

/** An index of the guides for programs that read Markdown: https://llmstxt.org. `base`: where the Markdown is. */
export function llmsText(sections: readonly GuideSection[], base: string): string {
  const listed = sections.map(({ title, entries }) => {
    const lines = entries.map(({ label, path, question }) => `- [${label}](${base}/${path}): ${question}`);
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return [
    '# Agent Server',
    '',
    '> An HTTP server for LangGraph.js agents on SQLite or PostgreSQL; the official LangGraph clients work unchanged.',
    '',
    ...listed,
  ].join('\n');
}
