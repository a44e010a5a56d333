import { useEffect, useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { followStream } from '../../api/follow-stream.ts';
import type { LogLine } from '../../ui/log-lines.tsx';

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** A line of any run. */
export interface TailLine extends LogLine {
  readonly run_id: string;
}

/** Older lines are dropped: each run keeps its own. */
const MAX_LINES = 500;
/** Lines that come closer together are drawn at once, ms. */
const DRAW_MS = 150;

interface Tail {
  readonly lines: readonly TailLine[];
  readonly isLive: boolean;
  readonly error: unknown;
}

const NONE: Tail = { lines: [], isLive: false, error: undefined };

/** What the code of all runs prints from now on, the newest last. */
export function useLogTail(level: Level, assistant_id: string | undefined): Tail {
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
    const query = { level, ...(assistant_id !== undefined && { assistant_id }) };
    const source = {
      join: (_last: string, signal: AbortSignal) =>
        dataOf(api.GET('/system/logs', { params: { query }, parseAs: 'stream', signal })),
      isOver: () => Promise.resolve(false),
    };
    async function follow() {
      for await (const { event, data } of followStream(source, stop.signal)) {
        if (event === 'ready') show({ ...now, isLive: true });
        if (event !== 'log') continue;
        show({ ...now, lines: [...now.lines, JSON.parse(data) as TailLine].slice(-MAX_LINES) });
      }
    }
    setTail(NONE);
    follow().catch((error: unknown) => show({ ...now, error }));
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [level, assistant_id]);
  return tail;
}
