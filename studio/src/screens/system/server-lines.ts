import { api, dataOf } from '../../api/client.ts';
import type { StreamEvent } from '../../api/event-stream.ts';
import type { Source } from '../../api/follow-stream.ts';
import type { Level, TailLine } from './use-log-tail.ts';

/** The process that writes the log. */
export interface Writer {
  readonly host: string;
  readonly pid: number;
}

interface Ready extends Writer {
  readonly since: string;
}

interface ServerLine extends Writer {
  readonly seq: number;
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The log of the process that answers: its buffered lines, then new ones. */
export function ofServer(level: Level): Source {
  return {
    join(last, signal) {
      const header = last === '-1' ? {} : { header: { 'Last-Event-Id': last } };
      const params = { query: { level }, ...header };
      return dataOf(api.GET('/system/server-logs', { params, parseAs: 'stream', signal }));
    },
    isOver: async () => false,
  };
}

/**
 * Turns the events of `ofServer` into lines: each line once, even if several processes answer, with a note when the process
 * changes.
 */
export function serverLines() {
  const last_of = new Map<string, number>();
  let writer: Ready | undefined;

  function begin(next: Ready): TailLine[] {
    const isOther = writer !== undefined && (writer.pid !== next.pid || writer.since !== next.since);
    writer = next;
    if (!isOther) return [];
    const started = new Date(next.since).toLocaleTimeString();
    return [noteOf(`Process ${next.pid} on ${next.host} answers now. It started at ${started}.`)];
  }

  return ({ event, data }: StreamEvent): { lines: TailLine[]; writer: Writer | undefined } => {
    if (event === 'ready') return { lines: begin(JSON.parse(data) as Ready), writer };
    if (event === 'missing') {
      const { lines } = JSON.parse(data) as { lines: number };
      return { lines: [noteOf(`${lines} lines are missing here.`)], writer };
    }
    if (event !== 'log') return { lines: [], writer };
    const line = JSON.parse(data) as ServerLine;
    // In a container, a restarted process has the same id and counts from 1 again.
    const process = `${writer?.since} ${line.host} ${line.pid}`;
    if (line.seq <= (last_of.get(process) ?? 0)) return { lines: [], writer };
    last_of.set(process, line.seq);
    return { lines: [lineOf(line, `${process} ${line.seq}`)], writer };
  };
}

let notes = 0;

function noteOf(message: string): TailLine {
  notes += 1;
  return { key: `note ${notes}`, seq: notes, time: '', level: 'debug', node: null, message, at: null };
}

function lineOf({ pid, seq, time, level, message, fields }: ServerLine, key: string): TailLine {
  const { run_id, error, ...others } = fields;
  const rest = Object.keys(others).length === 0 ? [] : [JSON.stringify(others)];
  const failure =
    error === undefined ? [] : [`\n${typeof error === 'string' ? error : JSON.stringify(error)}`];
  const text = [message, ...rest, ...failure].join(' ');
  const run = typeof run_id === 'string' ? { run_id } : {};
  return { key, seq, time, level, node: String(pid), message: text, at: null, ...run };
}
