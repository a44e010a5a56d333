import type { GuideMatch } from './contents.ts';

/** How the addresses of pages end: a server has them under the names of their files. */
export type PageEnding = '.md' | '.html';

/** The address of a page, relative to the guides. */
export function pageAddress(path: string, pages: PageEnding): string {
  return pages === '.md'
    ? path
    : path.replace(/(?:README)?\.md$/, (end) => (end === '.md' ? '.html' : 'index.html'));
}

/** What a search has found. A browser makes it too, so this file imports nothing. */
export function matchList(
  matches: readonly GuideMatch[],
  { guides, pages }: { readonly guides: string; readonly pages: PageEnding },
): string {
  const found = matches.map(({ path, title, heading, anchor, excerpt }) => {
    const href = `${guides}/${pageAddress(path, pages)}${anchor && `#${anchor}`}`;
    const where = (heading === title ? title : `${title}: ${heading}`).replaceAll('`', '');
    return `<li><a href="${escaped(href)}">${escaped(where)}</a><br>${escaped(excerpt)}</li>\n`;
  });
  return found.length > 0
    ? `<ol class="matches">\n${found.join('')}</ol>\n`
    : '<p>No page has these words.</p>\n';
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
