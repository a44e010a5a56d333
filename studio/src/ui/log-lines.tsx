import type { ReactNode } from 'react';
import { After, localIso } from './format.tsx';

const TONES: Readonly<Record<string, string>> = { warn: 'text-wait', error: 'text-err', debug: 'text-ink-3' };

export interface LogLine {
  readonly seq: number;
  readonly time: string;
  readonly level: string;
  readonly node: string | null;
  readonly message: string;
  /** Source location of the log call. */
  readonly at: string | null;
}

interface LogLinesProps<Line extends LogLine> {
  readonly lines: readonly Line[];
  readonly keyOf: (line: Line) => string | number;
  /** Shows the time since then instead of the time of day. */
  readonly since?: string | undefined;
  /** Content between the time and the node. */
  readonly before?: (line: Line) => ReactNode;
}

/** Log lines, with the node that wrote them. */
export function LogLines<Line extends LogLine>({ lines, keyOf, since, before }: LogLinesProps<Line>) {
  return (
    <ol className="font-mono text-xs/[18px]">
      {lines.map((line) => (
        <li key={keyOf(line)} className="flex gap-3 max-sm:flex-wrap max-sm:gap-y-0">
          <span className="w-20 flex-none text-ink-3">
            {since === undefined ? (
              // Notes have no time.
              <time dateTime={line.time}>{line.time && localIso(line.time).slice(11)}</time>
            ) : (
              <After at={line.time} since={since} />
            )}
          </span>
          {before?.(line)}
          <span className="w-24 flex-none truncate text-ink-2">{line.node ?? ''}</span>
          <span
            className={`min-w-0 flex-1 break-words whitespace-pre-wrap max-sm:order-last max-sm:basis-full ${TONES[line.level] ?? ''}`}
          >
            {line.message}
          </span>
          <span className="text-ink-3">{line.at}</span>
        </li>
      ))}
    </ol>
  );
}
