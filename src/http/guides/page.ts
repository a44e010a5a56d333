import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { anchorOf, type GuideMatch, type GuideSection, titleOf } from './contents.ts';
import { escaped, matchList, type PageEnding, pageAddress } from './matches.ts';

/** What is around the text of a page, and where it leads. Addresses are absolute, or relative to the page. */
export interface PageFrame {
  readonly guides: string;
  /** The reference of the API. */
  readonly api: string;
  readonly icon: string;
  /** Name of the page that searches. */
  readonly search: string;
  readonly pages: PageEnding;
  readonly sections: readonly GuideSection[];
}

/**
 * Renders a guide as HTML. `path` is relative to the guides folder. Links between guides stay; links that leave the
 * folder become plain text, because those files are not served.
 */
export async function guidePage(markdown: string, frame: PageFrame, path: string): Promise<string> {
  const body = await new Marked({ renderer: { heading, link: linkFrom(path, frame.pages) } }).parse(markdown);
  const source = `<p class="source"><a href="${frame.guides}/markdown/${escaped(path)}">Markdown</a></p>\n`;
  return framed(frame, titleOf(markdown) ?? 'Guide', body + source, { path });
}

export function searchPage(query: string, matches: readonly GuideMatch[], frame: PageFrame): string {
  const list = query === '' ? '' : matchList(matches, frame);
  return framed(frame, 'Search', `<h1>Search</h1>\n<div id="matches">${list}</div>\n`, { query });
}

function framed(
  { guides, api, icon, search, pages, sections }: PageFrame,
  title: string,
  body: string,
  { path, query = '' }: { path?: string; query?: string },
): string {
  const menu = sections.map(({ title: name, entries }) => {
    const isOpen = entries.some((entry) => entry.path === path);
    const items = entries.map((entry) => {
      const current = entry.path === path ? ' aria-current="page"' : '';
      const href = `${guides}/${escaped(pageAddress(entry.path, pages))}`;
      return `<li><a href="${href}"${current} title="${escaped(entry.question)}">${escaped(entry.label)}</a></li>`;
    });
    return `<details${isOpen ? ' open' : ''}><summary>${escaped(name)}</summary><ul>\n${items.join('\n')}\n</ul></details>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} · Agent Server</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="stylesheet" href="${guides}/style.css">
<script src="${guides}/theme.js"></script>
</head>
<body>
<header><a href="${guides}/${pageAddress('README.md', pages)}">Guides</a> <a href="${api}">API reference</a>
<form role="search" action="${guides}/${search}"><input type="search" name="q" value="${escaped(query)}" maxlength="200"
aria-label="Search the guides" placeholder="Search, such as: erase a user's data"> <button>Search</button></form>
<button type="button" id="theme" hidden></button></header>
<div class="columns">
<nav aria-label="Guides">
${menu.join('\n')}
</nav>
<main>
${body}</main>
</div>
</body>
</html>
`;
}

type Renderer = { readonly parser: { parseInline(tokens: Tokens.Generic[]): string } };

function heading(this: unknown, { tokens, depth, text }: Tokens.Heading): string {
  const content = (this as Renderer).parser.parseInline(tokens);
  return `<h${depth} id="${escaped(anchorOf(text))}">${content}</h${depth}>\n`;
}

function linkFrom(path: string, pages: PageEnding) {
  return function link(this: unknown, { href, tokens }: Tokens.Link): string {
    const text = (this as Renderer).parser.parseInline(tokens);
    const leaves = posix.join(posix.dirname(path), href).startsWith('..');
    const isPage = !leaves && /^[^:#]+\.md(?:#|$)/.test(href);
    const [name = '', anchor] = href.split('#');
    const address = isPage ? pageAddress(name, pages) + (anchor === undefined ? '' : `#${anchor}`) : href;
    return leaves ? text : `<a href="${escaped(address)}">${text}</a>`;
  };
}
