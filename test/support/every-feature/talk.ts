import { httpClient } from '../http-client.ts';
import type { SseEvent } from '../sse.ts';

/** Nothing else says it, nor is it found in so many random letters by chance. */
const MARK = 'zqxsecret';

/** Texts of one row lie in a SQLite file without anything between them. */
const WORD = new RegExp(`${MARK}(?:(?!${MARK})[a-z0-9])+`, 'g');

/** What is told to the server in one place: one word of small letters and digits, as searches know words. */
export function secret(place: string): string {
  return MARK + place.replaceAll(/\W/g, '').toLowerCase();
}

/** Every secret that occurs in a text, also in bytes that are written in hexadecimal. */
export function secretsIn(text: string): string[] {
  const inHex = new RegExp(`${hex(MARK)}((3[0-9])|(6[1-9a-f])|(7[0-9a]))+`, 'g');
  const decoded = [...text.matchAll(inHex)].map(([found]) => Buffer.from(found, 'hex').toString('latin1'));
  const found = `${text} ${decoded.join(' ')}`.matchAll(WORD);
  return [...new Set([...found].map(([word]) => word))].sort();
}

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

export interface Told {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says, of which each feature takes what it knows
  readonly body: any;
}

export interface Talk extends Disposable {
  /** Every secret that was told to the server. */
  secrets(): string[];
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Told>;
  get(path: string): Promise<Told>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Told>;
  /** The events of a stream until it ends, or until one that is the last of interest. */
  events(
    method: string,
    path: string,
    body?: unknown,
    isLast?: (event: SseEvent) => boolean,
  ): Promise<SseEvent[]>;
  /** A new thread's id. */
  thread(fields?: object): Promise<string>;
  /** A run of the graph to its end: its state. */
  wait(thread_id: string, fields: object): Promise<Told>;
}

/** Speaks to a server whose user has a secret in their record. */
export function talkTo(url: string): Talk {
  const http = httpClient(url);
  const known = { authorization: `Bearer ${secret('user record')}` };
  const said = new Set<string>();
  const tell = (...what: unknown[]) => {
    for (const word of secretsIn(JSON.stringify(what))) said.add(word);
  };
  const talk: Talk = {
    secrets: () => [...said].sort(),
    async send(method, path, body, headers = {}) {
      tell(known, path, body, headers);
      const answer = await http.send(method, path, { body, headers: { ...known, ...headers } });
      return { status: answer.status, body: answer.body };
    },
    get: (path) => talk.send('GET', path),
    post: (path, body, headers) => talk.send('POST', path, body, headers),
    async events(method, path, body, isLast = () => false) {
      tell(known, path, body);
      const { status, events } = await http.stream(method, path, { body, headers: known });
      if (status !== 200) throw new Error(`${method} ${path} answered ${status}`);
      const seen: SseEvent[] = [];
      for await (const event of events) {
        seen.push(event);
        if (isLast(event)) break;
      }
      return seen;
    },
    async thread(fields = {}) {
      return (await talk.post('/threads', { metadata: { graph_id: 'keeper' }, ...fields })).body.thread_id;
    },
    wait: (thread_id, fields) =>
      talk.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'keeper', ...fields }),
    [Symbol.dispose]: () => http[Symbol.dispose](),
  };
  return talk;
}

/** What tells answers of two servers apart, and should not: ids, times, ports. */
const OWN = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g, '<time>'],
  [/\b1[78]\d{8,11}\b/g, '0'],
  [/\b[0-9a-f]{32}\b/g, '<id>'],
  [/127\.0\.0\.1:\d+/g, '<host>'],
] as const;

/** The answer as another server would have given it. */
export function comparable(answer: unknown): unknown {
  const text = OWN.reduce(
    (shown, [what, name]) => shown.replaceAll(what, name),
    JSON.stringify(answer) ?? 'null',
  );
  return JSON.parse(text);
}
