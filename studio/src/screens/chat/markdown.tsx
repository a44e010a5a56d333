import { memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { piecesOf } from './markdown-pieces.ts';

/** Elements of an answer in the type scale of Studio. Images of other origins are links: nothing is loaded from elsewhere. */
const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent underline underline-offset-2"
    >
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={src} target="_blank" rel="noopener noreferrer nofollow" className="text-accent underline">
      {alt || 'Image'}
    </a>
  ),
  h1: ({ children }) => <h3 className="mt-2 text-base font-semibold">{children}</h3>,
  h2: ({ children }) => <h3 className="mt-2 text-base font-semibold">{children}</h3>,
  h3: ({ children }) => <h4 className="mt-2 font-semibold">{children}</h4>,
  ul: ({ children }) => <ul className="list-disc pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="list-decimal pl-5">
      {children}
    </ol>
  ),
  blockquote: ({ children }) => (
    <blockquote className="flex flex-col gap-2 border-l-2 border-line-strong pl-3 text-ink-2">
      {children}
    </blockquote>
  ),
  pre: ({ children }) => (
    <pre
      tabIndex={0}
      className="overflow-x-auto rounded-lg bg-sunk p-3 text-xs/[18px] [&_code]:bg-transparent [&_code]:p-0"
    >
      {children}
    </pre>
  ),
  code: ({ children }) => <code className="rounded bg-sunk px-1 font-mono text-xs">{children}</code>,
  table: ({ children }) => (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Table">
      <table className="text-left [&_td]:border-b [&_td]:border-line [&_td]:px-2 [&_td]:py-1 [&_th]:border-b [&_th]:border-line-strong [&_th]:px-2 [&_th]:py-1 [&_th]:font-medium">
        {children}
      </table>
    </div>
  ),
  hr: () => <hr className="border-line" />,
};

/** Text of a model: HTML in it is shown as text, and only links of safe protocols work. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-2.5 break-words">
      {piecesOf(text).map((piece, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces grow and are added, but never move
        <Piece key={i} text={piece} />
      ))}
    </div>
  );
});

const Piece = memo(function Piece({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});
