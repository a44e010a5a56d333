import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { anchorOf, type GuideMatch, type GuideSection, titleOf } from './contents.ts';

export interface PageFrame {
  /** Address of the documentation, with the mount prefix. */
  readonly docs: string;
  readonly sections: readonly GuideSection[];
}

/**
 * Renders a guide as HTML. `path` is relative to the guides folder. Links between guides stay; links that leave the
 * folder become plain text, because those files are not served.
 */
export async function guidePage(markdown: string, frame: PageFrame, path: string): Promise<string> {
  const body = await new Marked({ renderer: { heading, link: linkFrom(path) } }).parse(markdown);
  const source = `<p class="source"><a href="${frame.docs}/guides/markdown/${escaped(path)}">Markdown</a></p>\n`;
  return framed(frame, titleOf(markdown) ?? 'Guide', body + source, { path });
}

export function searchPage(query: string, matches: readonly GuideMatch[], frame: PageFrame): string {
  const found = matches.map(({ path, title, heading, anchor, excerpt }) => {
    const href = `${frame.docs}/guides/${path}${anchor && `#${anchor}`}`;
    const where = (heading === title ? title : `${title}: ${heading}`).replaceAll('`', '');
    return `<li><a href="${escaped(href)}">${escaped(where)}</a><br>${escaped(excerpt)}</li>\n`;
  });
  const list =
    found.length > 0 ? `<ol class="matches">\n${found.join('')}</ol>\n` : '<p>No page has these words.</p>\n';
  return framed(frame, 'Search', `<h1>Search</h1>\n${query === '' ? '' : list}`, { query });
}

function framed(
  { docs, sections }: PageFrame,
  title: string,
  body: string,
  { path, query = '' }: { path?: string; query?: string },
): string {
  const menu = sections.map(({ title: name, entries }) => {
    const isOpen = entries.some((entry) => entry.path === path);
    const items = entries.map((entry) => {
      const current = entry.path === path ? ' aria-current="page"' : '';
      const href = `${docs}/guides/${escaped(entry.path)}`;
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
<link rel="icon" type="image/svg+xml" href="${docs}/static/theme/logo.svg">
<link rel="stylesheet" href="${docs}/guides/style.css">
</head>
<body>
<header><a href="${docs}/guides/README.md">Guides</a> <a href="${docs}">API reference</a>
<form role="search" action="${docs}/guides/search"><input type="search" name="q" value="${escaped(query)}" maxlength="200"
aria-label="Search the guides" placeholder="Search, such as: erase a user's data"> <button>Search</button></form></header>
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

function linkFrom(path: string) {
  return function link(this: unknown, { href, tokens }: Tokens.Link): string {
    const text = (this as Renderer).parser.parseInline(tokens);
    const leaves = posix.join(posix.dirname(path), href).startsWith('..');
    return leaves ? text : `<a href="${escaped(href)}">${text}</a>`;
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

export const GUIDE_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dee4, #3a4046); --code: light-dark(#f5f7f9, #22272c); }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; background: light-dark(#fff, #1c2022); color: light-dark(#1f2328, #e4e6e6); }
header { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; padding: 12px 24px; border-bottom: 1px solid var(--line); }
form { flex: 1 1 16rem; display: flex; gap: 8px; justify-content: flex-end; min-width: 0; }
input { flex: 0 1 22rem; min-width: 0; }
input, button { font: inherit; padding: 4px 10px; border: 1px solid var(--line); border-radius: 6px; }
.columns { display: grid; grid-template-columns: 14rem minmax(0, 52rem); gap: 32px; justify-content: center; padding: 0 24px 64px; }
nav { padding-top: 24px; font-size: 14px; }
nav ul { margin: 2px 0 10px; padding-left: 16px; list-style: none; }
nav summary { cursor: pointer; font-weight: 600; }
nav [aria-current] { font-weight: 600; }
@media (max-width: 60rem) { .columns { grid-template-columns: minmax(0, 1fr); gap: 0; } }
main { min-width: 0; overflow-wrap: break-word; }
a { color: light-dark(#0b62c4, #79b8ff); }
h1, h2, h3 { line-height: 1.25; margin: 1.6em 0 .5em; }
pre { overflow-x: auto; padding: 12px 16px; background: var(--code); border-radius: 6px; font-size: 14px; line-height: 1.45; }
:not(pre) > code { padding: .1em .35em; background: var(--code); border-radius: 4px; font-size: .9em; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { padding: 6px 12px; border: 1px solid var(--line); text-align: left; vertical-align: top; }
blockquote { margin: 1em 0; padding: 0 1em; border-left: 4px solid var(--line); }
img { max-width: 100%; }
.matches li { margin-bottom: 14px; }
.source { margin-top: 48px; font-size: 14px; }
`;
