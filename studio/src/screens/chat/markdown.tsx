import { memo, type ReactNode, startTransition, useEffect, useState } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Button } from '../../ui/button.tsx';
import { Lines } from './lines.tsx';
import { growingPieces, type Piece as PieceOfText } from './markdown-pieces.ts';
import { barsOf, cellsOf, firstCells } from './table-cells.ts';

const PLUGINS = [remarkGfm];

function Pre({ children }: { children?: ReactNode }) {
  return (
    <pre
      tabIndex={0}
      className="overflow-x-auto rounded-lg bg-sunk p-3 text-xs/[18px] [&_code]:bg-transparent [&_code]:p-0"
    >
      {children}
    </pre>
  );
}

function Code({ children }: { children?: ReactNode }) {
  return <code className="rounded bg-sunk px-1 font-mono text-xs">{children}</code>;
}

function Table({ children }: { children?: ReactNode }) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Table">
      <table className="text-left [&_td]:border-b [&_td]:border-line [&_td]:px-2 [&_td]:py-1 [&_th]:border-b [&_th]:border-line-strong [&_th]:px-2 [&_th]:py-1 [&_th]:font-medium">
        {children}
      </table>
    </div>
  );
}

/**
 * Markdown elements in Studio's type scale. Images of other origins become links, so that nothing is loaded from elsewhere.
 */
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
  pre: ({ children }) => <Pre>{children}</Pre>,
  code: ({ children }) => <Code>{children}</Code>,
  table: ({ children }) => <Table>{children}</Table>,
  hr: () => <hr className="border-line" />,
};

/** A piece of a table, including the header. */
const HEAD_AND_ROWS: Components = { ...COMPONENTS, table: ({ children }) => children };
const ROWS: Components = { ...HEAD_AND_ROWS, thead: () => null };

interface MarkdownProps {
  readonly text: string;
  /** The text is still being streamed. */
  readonly isLive: boolean;
}

/** Renders model output. HTML is shown as text, and only links with safe protocols work. */
export const Markdown = memo(function Markdown({ text, isLive }: MarkdownProps) {
  const [piecesOf] = useState(growingPieces);
  const pieces = piecesOf(text);
  const blocks = blocksOf(pieces.slice(0, useDrawn(pieces.length)));
  return (
    <div className="flex min-w-0 flex-col gap-2.5 break-words">
      {blocks.map(([piece, ...others], i) => {
        const isGrowing = isLive && i === blocks.length - 1;
        // biome-ignore-start lint/suspicious/noArrayIndexKey: blocks grow and are added, but never move
        return piece.kind === 'table' ? (
          <LongTable key={i} pieces={[piece, ...others]} isLive={isGrowing} />
        ) : (
          <Piece key={i} {...piece} isLive={isGrowing} />
        );
        // biome-ignore-end lint/suspicious/noArrayIndexKey: see above
      })}
    </div>
  );
});

/** Pieces rendered per task if a long text is complete from the start. */
const AT_ONCE = 4;

/** Number of pieces to render so far. Once all are, new ones follow at once. */
function useDrawn(count: number): number {
  const [drawn, setDrawn] = useState(AT_ONCE);
  useEffect(() => {
    startTransition(() => setDrawn(drawn < count ? drawn + AT_ONCE : Number.POSITIVE_INFINITY));
  }, [drawn, count]);
  return drawn;
}

type Block = readonly [Piece: PieceOfText, ...PieceOfText[]];

/** Groups the pieces of one table into a block. Any other piece is its own block. */
function blocksOf(pieces: readonly PieceOfText[]): readonly Block[] {
  const blocks: [PieceOfText, ...PieceOfText[]][] = [];
  for (const piece of pieces) {
    if (piece.kind === 'table' && piece.goesOn) blocks.at(-1)?.push(piece);
    else blocks.push([piece]);
  }
  return blocks;
}

/**
 * A growing piece longer than this is shown as plain text until it is finished, or it would be parsed for each token.
 * Characters.
 */
const LONGEST_LIVE = 8_000;
/** A piece longer than this stays plain text: 60,000 lines without a blank one keep the parser busy for 40 s. Characters. */
const LONGEST = 50_000;

/** Rows of a table that are shown until the reader asks for all. */
const MOST_COLUMNS = 50;
const MOST_CELLS = 10_000;
/** An undivided text with more cells stays plain text: each takes 0.1 ms. */
const MOST_UNDIVIDED = 3_000;

/** A table. If it is large, only its first rows until the reader asks for all. */
function LongTable({ pieces, isLive }: { pieces: Block; isLive: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const columns = cellsOf(pieces[0].text.split('\n', 1)[0] ?? '');
  const shown = isWhole ? pieces : firstPieces(pieces, Math.min(columns, MOST_COLUMNS));
  const isCut = !isWhole && (columns > MOST_COLUMNS || shown.length < pieces.length);
  const last = pieces.at(-1)?.text ?? '';
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  const isLastWritten = isLive && length > LONGEST_LIVE;
  const drawn = isLastWritten && shown.length === pieces.length ? shown.slice(0, -1) : shown;
  return (
    <>
      <TablePieces key={String(isWhole)} pieces={drawn} columns={isWhole ? columns : MOST_COLUMNS} />
      {isCut && (
        <p className="flex items-center gap-2 text-xs text-ink-2">
          Only the first rows of this table are shown.
          <Button onClick={() => setWhole(true)}>Show all</Button>
        </p>
      )}
      {isLastWritten && <AsWritten text={last} />}
    </>
  );
}

/** The first pieces of a table with at most `MOST_CELLS` cells. */
function firstPieces(pieces: readonly PieceOfText[], columns: number): readonly PieceOfText[] {
  let cells = 0;
  const end = pieces.findIndex(({ text }) => {
    cells += columns * rowsOf(text);
    return cells > MOST_CELLS;
  });
  return end < 0 ? pieces : pieces.slice(0, Math.max(end, 1));
}

/** Rows of a piece below the header. */
function rowsOf(text: string): number {
  return text.split('\n').length - 2;
}

/** Memoized: only the last piece changes while the table grows. */
function TablePieces({ pieces, columns }: { pieces: readonly PieceOfText[]; columns: number }) {
  return (
    <Table>
      {pieces.slice(0, useDrawn(pieces.length)).map(({ text, goesOn }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces grow and are added, but never move
        <TablePiece key={i} text={text} goesOn={goesOn} columns={columns} />
      ))}
    </Table>
  );
}

const TablePiece = memo(function TablePiece(props: { text: string; goesOn: boolean; columns: number }) {
  const { text, goesOn, columns } = props;
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={goesOn ? ROWS : HEAD_AND_ROWS}>
      {firstCells(text, columns)}
    </ReactMarkdown>
  );
});

function AsWritten({ text }: { text: string }) {
  return (
    <div className="whitespace-pre-wrap">
      <Lines text={text} />
    </div>
  );
}

type PieceProps = PieceOfText & { readonly isLive: boolean };

const Piece = memo(function Piece({ kind, text, goesOn, isLive }: PieceProps) {
  if (kind === 'code')
    return (
      <Pre>
        <Code>
          <Lines text={text} />
        </Code>
      </Pre>
    );
  const isLong = text.length > (isLive ? LONGEST_LIVE : LONGEST) || barsOf(text).length > MOST_UNDIVIDED;
  if (isLong) return <AsWritten text={text} />;
  const markdown = (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
  // Same spacing to the items before as between them.
  return goesOn ? <div className="-mt-2.5 flex flex-col gap-2.5">{markdown}</div> : markdown;
});
