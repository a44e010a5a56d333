import { useEffect, useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { followStream, type Source } from '../../api/follow-stream.ts';
import type { LogLine } from '../../ui/log-lines.tsx';
import { ofServer, serverLines, type Writer } from './server-lines.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];

/** A log line of a run or of the server. */
export interface TailLine extends LogLine {
  readonly key: string;
  readonly run_id?: string;
}

/** Maximum number of lines kept. Each run stores its own lines. */
const MAX_LINES = 500;
/** Lines that arrive within this time are drawn together, ms. */
const DRAW_MS = 150;

interface Filters {
  /** Follow the server log instead of runs. */
  readonly is_server: boolean;
  readonly level: Level;
  readonly assistant_id: string | undefined;
  /** Only this run, regardless of the assistant filter. */
  readonly run_id: string | undefined;
}

interface Tail {
  readonly lines: readonly TailLine[];
  readonly isLive: boolean;
  /** Writer of the server log. */
  readonly writer: Writer | undefined;
  /** The followed run has ended. */
  readonly isOver: boolean;
  readonly error: unknown;
}

const NONE: Tail = { lines: [], isLive: false, writer: undefined, isOver: false, error: undefined };

/** New output of all runs, the whole output of one run, or the server log. Newest last. */
export function useLogTail({ is_server, level, assistant_id, run_id }: Filters): Tail {
  const [tail, setTail] = useState(NONE);
  useEffect(() => {
    const stop = new AbortController();
    let now = NONE;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer = undefined;
      setTail(now);
    };
    const show = (next: Tail) => {
      now = next;
      timer ??= setTimeout(draw, DRAW_MS);
    };
    const levels = LEVELS.slice(LEVELS.indexOf(level));
    const source = run_id === undefined ? ofAll({ level, assistant_id }) : ofRun(run_id, () => now.isOver);
    async function followServer() {
      const read = serverLines();
      for await (const event of followStream(ofServer(level), stop.signal)) {
        const { lines, writer } = read(event);
        show({ ...now, isLive: true, writer, lines: [...now.lines, ...lines].slice(-MAX_LINES) });
      }
    }
    async function follow() {
      for await (const { event, data } of followStream(source, stop.signal)) {
        if (event === 'end') show({ ...now, isOver: true });
        if (event !== 'log') show({ ...now, isLive: true });
        else {
          const line = runLine({ run_id, ...JSON.parse(data) });
          if (!levels.includes(line.level as Level)) continue;
          show({ ...now, isLive: true, lines: [...now.lines, line].slice(-MAX_LINES) });
        }
      }
    }
    setTail(NONE);
    (is_server ? followServer() : follow()).catch((error: unknown) => show({ ...now, error }));
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [is_server, level, assistant_id, run_id]);
  return tail;
}

function runLine(line: Omit<TailLine, 'key'>): TailLine {
  return { ...line, key: `${line.run_id}/${line.seq}` };
}

function ofAll({ level, assistant_id }: Pick<Filters, 'level' | 'assistant_id'>): Source {
  const query = { level, ...(assistant_id !== undefined && { assistant_id }) };
  return {
    join: (_last, signal) =>
      dataOf(api.GET('/system/logs', { params: { query }, parseAs: 'stream', signal })),
    isOver: async () => false,
  };
}

function ofRun(run_id: string, isOver: () => boolean): Source {
  return {
    join(last, signal) {
      // Without a known last line, request all buffered lines.
      const header = last === '-1' ? {} : { header: { 'Last-Event-Id': last } };
      const params = { path: { run_id }, query: { stream: true }, ...header };
      return dataOf(api.GET('/runs/{run_id}/logs', { params, parseAs: 'stream', signal }));
    },
    isOver: async () => isOver(),
  };
}
