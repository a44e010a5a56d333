import { prettyFactory } from 'pino-pretty';

/** Fields that hold errors: their stacks follow the line. */
const ERROR_FIELDS = ['error', 'cause', 'err'];
/** Control characters that JSON does not escape. */
const RAW_CONTROLS = /[\u007f-\u009f]/g;

type Readable = (json: string) => string;

/** Formats JSON lines with pino-pretty: time of day in UTC, level, message, the fields as JSON, and stacks. */
export function readableLines(color: boolean): Readable {
  const format = prettyFactory({
    colorize: color,
    messageKey: 'message',
    translateTime: 'UTC:HH:MM:ss',
    ignore: '',
    singleLine: true,
    errorLikeObjectKeys: ERROR_FIELDS,
    customPrettifiers: Object.fromEntries(ERROR_FIELDS.map((name) => [name, indentedText])),
  });
  return (json) => format(readableRecord(json.replace(RAW_CONTROLS, ' ')));
}

/** Fields omitted in a terminal from lines of graph code: the run id identifies them. */
const OF_RUN = ['thread_id', 'assistant_id', 'graph', 'attempt', 'source'];

function readableRecord(json: string): Record<string, unknown> {
  const record: Record<string, unknown> = JSON.parse(json, singleLine);
  // Redundant: the run id without dashes.
  delete record['trace_id'];
  if (record['source'] === undefined) return record;
  for (const name of OF_RUN) delete record[name];
  const { message } = JSON.parse(json) as { message: string };
  return { ...record, message: message.split('\n').map(oneLine).join('\n    ') };
}

/** User data may reach a line: it must not forge another line or control the terminal. */
function singleLine(key: string, value: unknown): unknown {
  return typeof value === 'string' && !ERROR_FIELDS.includes(key) ? oneLine(value) : value;
}

function indentedText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.split('\n').map(oneLine).join('\n');
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
