import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';

/**
 * Renders a guide as HTML. `path` is relative to the guides folder. Links between guides stay; links that leave the
 * folder become plain text, because those files are not served.
 */
export async function guidePage(markdown: string, docs: string, path: string): Promise<string> {
  const body = await new Marked({ renderer: { heading, link: linkFrom(path) } }).parse(markdown);
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? 'Guide';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} · Agent Server</title>
<link rel="stylesheet" href="${docs}/guides/style.css">
</head>
<body>
<nav><a href="${docs}/guides/README.md">Guides</a> <a href="${docs}">API reference</a></nav>
<main>
${body}</main>
</body>
</html>
`;
}

type Renderer = { readonly parser: { parseInline(tokens: Tokens.Generic[]): string } };

/** Adds the heading id that links within the guides use. */
function heading(this: unknown, { tokens, depth, text }: Tokens.Heading): string {
  const id = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
  return `<h${depth} id="${escaped(id)}">${(this as Renderer).parser.parseInline(tokens)}</h${depth}>\n`;
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
nav { padding: 12px 24px; border-bottom: 1px solid var(--line); }
nav a { margin-right: 20px; }
main { max-width: 52rem; margin: 0 auto; padding: 8px 24px 64px; }
a { color: light-dark(#0b62c4, #79b8ff); }
h1, h2, h3 { line-height: 1.25; margin: 1.6em 0 .5em; }
pre { overflow-x: auto; padding: 12px 16px; background: var(--code); border-radius: 6px; font-size: 14px; line-height: 1.45; }
:not(pre) > code { padding: .1em .35em; background: var(--code); border-radius: 4px; font-size: .9em; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { padding: 6px 12px; border: 1px solid var(--line); text-align: left; vertical-align: top; }
blockquote { margin: 1em 0; padding: 0 1em; border-left: 4px solid var(--line); }
img { max-width: 100%; }
`;
