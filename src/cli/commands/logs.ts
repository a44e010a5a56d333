import { isUuid } from '../../core/ids.ts';
import { isObject } from '../../core/json.ts';
import { LOG_LEVELS } from '../../schemas/run-logs.ts';
import { printNote } from '../ask/answer-printer.ts';
import { call, type Server, stream } from '../ask/client.ts';
import { oneLine, sanitizeForTerminal } from '../ask/sanitize.ts';
import { type Command, SERVER_FLAGS, UsageError } from '../command.ts';
import { targetServer } from '../config.ts';

export const logs: Command = {
  name: 'logs',
  summary: 'Prints the output of the code of a run, or with --follow of all runs',
  flags: {
    run: { value: 'ID', text: 'the run (default with --follow: all runs)' },
    follow: { short: 'f', text: 'keeps printing new lines, until the run ends or for all runs without end' },
    assistant: { value: 'ID', text: 'without --run: only runs of this assistant or graph' },
    level: {
      value: 'LEVEL',
      text: 'without --run: only lines of this level and above: debug, info, warn or error',
    },
    json: { text: 'prints each line as a JSON object' },
    ...SERVER_FLAGS,
  },
  async run(values) {
    const { run, assistant, level } = values;
    const isFollowed = values['follow'] !== undefined;
    if (run === undefined ? !isFollowed : !isUuid(run))
      throw new UsageError('logs: --run must be the id of a run; for all runs, use --follow without --run');
    if (run !== undefined && (assistant ?? level) !== undefined)
      throw new UsageError('logs: --assistant and --level cannot be combined with --run');
    if (level !== undefined && !(LOG_LEVELS as readonly string[]).includes(level))
      throw new UsageError(`logs: --level must be one of ${LOG_LEVELS.join(', ')}`);
    const server = await targetServer(values);
    if (run === undefined) return followAll(server, { assistant, level }, values['json'] !== undefined);
    const print = linePrinter(values['json'] !== undefined);
    const path = `/runs/${run}/logs`;
    if (isFollowed) await follow(server, path, print);
    else for (const line of await call(server, { method: 'GET', path }, Array.isArray)) print(line);
    return 0;
  },
};

async function follow(server: Server, path: string, print: (line: unknown) => void): Promise<void> {
  const broken = 'the stream ended early: run the command again';
  for await (const { event, data } of stream(
    server,
    { method: 'GET', path: `${path}?stream=true` },
    broken,
  )) {
    if (event === 'log') print(data);
    if (event === 'end') return;
  }
}

/** Prints lines of all runs, each with its run, until the server ends the stream. */
async function followAll(
  server: Server,
  { assistant, level }: { assistant: string | undefined; level: string | undefined },
  json: boolean,
): Promise<number> {
  const query = new URLSearchParams({
    ...(assistant !== undefined && { assistant_id: assistant }),
    ...(level !== undefined && { level }),
  });
  const broken = 'the stream ended early: run the command again';
  for await (const { event, data } of stream(
    server,
    { method: 'GET', path: `/system/logs?${query}` },
    broken,
  )) {
    if (event !== 'log' || !isObject(data)) continue;
    const text = json ? JSON.stringify(data) : `${oneLine(String(data['run_id']))} ${readable(data)}`;
    process.stdout.write(`${text}\n`);
  }
  return 0;
}

/** Prints lines, and notes on stderr where another attempt begins. */
function linePrinter(json: boolean): (line: unknown) => void {
  let last_attempt: unknown;
  return (line) => {
    if (!isObject(line)) return;
    const { attempt } = line;
    if (!json && last_attempt !== undefined && attempt !== last_attempt) printNote(`attempt ${attempt}`);
    last_attempt = attempt;
    process.stdout.write(`${json ? JSON.stringify(line) : readable(line)}\n`);
  };
}

/** `12:30:05 INFO  node: message (agent.ts:3:5)`; further lines of the message are indented. */
function readable({ time, level, message, node, at }: Record<string, unknown>): string {
  const clock = String(time).slice('2026-01-01T'.length, -'.000Z'.length);
  const from = typeof node === 'string' ? `${oneLine(node)}: ` : '';
  const place = typeof at === 'string' ? ` (${oneLine(at)})` : '';
  const text = sanitizeForTerminal(String(message)).replaceAll('\n', '\n    ');
  return `${oneLine(clock)} ${oneLine(String(level)).toUpperCase().padEnd(5)} ${from}${text}${place}`;
}
