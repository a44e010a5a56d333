import { isUuid } from '../../core/ids.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { find, type Server } from '../ask/client.ts';
import { oneLine } from '../ask/sanitize.ts';
import { type Command, columns, SERVER_FLAGS, UsageError } from '../command.ts';
import { targetServer } from '../config.ts';

export const explain: Command = {
  name: 'explain',
  summary: 'Explains the state of a run, thread, cron, webhook delivery or revision of a running server',
  args: [{ name: 'id', text: 'the id of a run, a thread, a cron, a delivery or a revision', required: true }],
  flags: { ...SERVER_FLAGS, json: { text: 'prints the explanation as JSON' } },
  async run(values) {
    const { id = '', json } = values;
    if (!isUuid(id))
      throw new UsageError(
        `explain: <id> must be the id of a run, a thread, a cron, a delivery or a revision, such as ${EXAMPLE_ID}; got "${oneLine(id)}"`,
      );
    const server = await targetServer(values);
    const found = await findExplanation(server, id);
    if (found === undefined) {
      process.stderr.write(
        `agent-server: ${server.url} has no run, thread, cron, delivery or revision ${id} that this key may read\n`,
      );
      return 1;
    }
    const text =
      json === undefined ? readable(id, found) : JSON.stringify({ kind: found.kind, ...found.fields });
    process.stdout.write(`${text}\n`);
    return 0;
  },
};

const EXAMPLE_ID = '01990c1e-1f2a-7c31-9d6e-5b2f8a1c4e70';

const PATHS = {
  run: '/runs/{id}/explain',
  thread: '/threads/{id}/explain',
  cron: '/runs/crons/{id}/explain',
  delivery: '/webhooks/deliveries/{id}/explain',
  revision: '/v2/revisions/{id}/explain',
} as const;

type Kind = keyof typeof PATHS;

interface Found {
  readonly kind: Kind;
  readonly fields: Explanation;
}

type Explanation = JsonObject & { readonly summary: string };

/** Queries every kind, because an id does not reveal its kind. */
async function findExplanation(server: Server, id: string): Promise<Found | undefined> {
  const kinds = Object.keys(PATHS) as Kind[];
  const answers = await Promise.all(
    kinds.map(async (kind) => {
      const path = PATHS[kind].replace('{id}', id);
      const fields = await find(server, { method: 'GET', path }, isExplanation);
      return fields && { kind, fields };
    }),
  );
  return answers.find((answer) => answer !== undefined);
}

function isExplanation(value: unknown): value is Explanation {
  return isObject(value) && typeof value['summary'] === 'string';
}

/** The sentence, then the fields that have a value; lists have a line for each entry. */
function readable(id: string, { kind, fields: { summary, ...fields } }: Found): string {
  const { status, state = status } = fields;
  const rows = Object.entries(fields).flatMap(([name, value]) => rowsOf(name, value));
  return [`${kind} ${id}: ${oneLine(String(state))}`, oneLine(summary), ...columns(rows)].join('\n');
}

function rowsOf(name: string, value: unknown): [string, string][] {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return [];
  if (Array.isArray(value)) return value.map((each, i) => [i === 0 ? name : '', textOf(each)]);
  return [[name, textOf(value)]];
}

function textOf(value: unknown): string {
  if (!isObject(value)) return oneLine(String(value));
  const parts = Object.entries(value).filter(([, part]) => part !== null);
  return oneLine(parts.map(([name, part]) => `${name}=${partOf(part)}`).join(' '));
}

function partOf(part: unknown): string {
  return typeof part === 'string' ? part : JSON.stringify(part);
}
