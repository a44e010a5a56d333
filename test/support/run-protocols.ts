import { once } from 'node:events';
import { message, oldMessage } from './a2a.ts';
import type { openApp } from './app.ts';

type Server = Awaited<ReturnType<typeof openApp>>;

/** What is there to make runs of; `url` is where the server listens. */
export interface Place {
  readonly server: Server;
  readonly url: string;
  /** Waits at an interrupt. */
  readonly thread_id: string;
  readonly checkpoint_id: string;
  readonly interrupt_id: string;
  /** On the thread. */
  readonly cron_id: string;
  readonly task_id: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A way to make a run: of the graph `interrupting`, with the headers of whoever tries. */
export interface RunDoor {
  readonly name: string;
  /** How a refusal is said: by the status, in a command's answer, by JSON-RPC, as the result of a tool. */
  readonly says: 'status' | 'command' | 'rpc' | 'tool';
  /** Makes the run on `Place.thread_id`. */
  readonly onThread: boolean;
  knock(place: Place, headers: Record<string, string>): Promise<Answer>;
}

const INPUT = { x: 1 };
const RUN = { assistant_id: 'interrupting', input: INPUT };
const ON_THREAD = { ...RUN, if_not_exists: 'create' };
const CRON = { ...RUN, schedule: '0 0 1 1 *' };
const CHAT = { model: 'interrupting', messages: [{ role: 'user', content: 'Hi' }] };

type Command = (place: Place) => readonly [method: string, params: object];

const COMMANDS: Readonly<Record<string, Command>> = {
  'run.start': () => ['run.start', RUN],
  'run.start at a checkpoint': ({ checkpoint_id }) => [
    'run.start',
    { ...RUN, config: { configurable: { checkpoint_id } } },
  ],
  'input.respond': ({ interrupt_id }) => ['input.respond', { interrupt_id, response: 1 }],
  'input.inject': () => ['input.inject', { message: { role: 'user', content: 'Hi' } }],
  'state.fork': ({ checkpoint_id }) => ['state.fork', { checkpoint_id }],
};

/** Every way there is. */
export const RUN_DOORS: readonly RunDoor[] = [
  ...['', '/wait', '/stream'].map((kind) =>
    post(`POST /threads/{thread_id}/runs${kind}`, 'status', ({ thread_id }) => [
      `/threads/${thread_id}/runs${kind}`,
      ON_THREAD,
    ]),
  ),
  ...['', '/wait', '/stream'].map((kind) =>
    alone(`POST /runs${kind}`, 'status', () => [`/runs${kind}`, RUN]),
  ),
  alone('POST /runs/batch', 'status', () => ['/runs/batch', [RUN, RUN]]),
  post('POST /threads/{thread_id}/runs/crons', 'status', ({ thread_id }) => [
    `/threads/${thread_id}/runs/crons`,
    CRON,
  ]),
  post('a cron that may make its thread', 'status', ({ thread_id }) => [
    `/threads/${thread_id}/runs/crons`,
    { ...CRON, if_not_exists: 'create' },
  ]),
  alone('POST /runs/crons', 'status', () => ['/runs/crons', CRON]),
  post('POST /runs/crons/{cron_id}/trigger', 'status', ({ cron_id }) => [
    `/runs/crons/${cron_id}/trigger`,
    {},
  ]),
  ...commands(),
  ...agentDoors(),
  ...toolDoors(),
  alone('a chat completion', 'status', () => ['/v1/chat/completions', CHAT]),
  alone('a streamed chat completion', 'status', () => ['/v1/chat/completions', { ...CHAT, stream: true }]),
  post('a chat completion of a conversation', 'status', ({ thread_id }) => [
    '/v1/chat/completions',
    { ...CHAT, user: thread_id },
  ]),
];

type Request = (place: Place) => readonly [path: string, body: object];

function post(name: string, says: RunDoor['says'], request: Request, onThread = true): RunDoor {
  return {
    name,
    says,
    onThread,
    async knock(place, headers) {
      const [path, body] = request(place);
      return place.server.post(path, body, headers);
    },
  };
}

function alone(name: string, says: RunDoor['says'], request: Request): RunDoor {
  return post(name, says, request, false);
}

function commands(): RunDoor[] {
  return Object.entries(COMMANDS).flatMap(([name, command]): RunDoor[] => {
    const sent = (place: Place) => {
      const [method, params] = command(place);
      return { id: 1, method, params };
    };
    const path = ({ thread_id }: Place) => `/threads/${thread_id}/commands`;
    return [
      post(name, 'command', (place) => [path(place), sent(place)]),
      {
        name: `${name} by socket`,
        says: 'command',
        onThread: true,
        knock: (place, headers) => bySocket(place, headers, sent(place)),
      },
    ];
  });
}

async function bySocket(
  { url, thread_id }: Place,
  headers: Record<string, string>,
  command: object,
): Promise<Answer> {
  const address = `${url.replace('http', 'ws')}/threads/${thread_id}/stream/events`;
  // Of undici, which takes headers.
  const socket = new WebSocket(address, { headers } as unknown as string[]);
  await once(socket, 'open');
  socket.send(JSON.stringify(command));
  const [event] = await Promise.race([once(socket, 'message'), once(socket, 'close')]);
  socket.close();
  return { status: 200, text: String((event as MessageEvent).data ?? (event as CloseEvent).reason) };
}

function agentDoors(): RunDoor[] {
  const at = '/a2a/interrupting';
  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  return [
    alone('A2A SendMessage', 'rpc', () => [at, rpc('SendMessage', { message: message(INPUT) })]),
    alone('A2A message/send', 'rpc', () => [at, rpc('message/send', { message: oldMessage(INPUT) })]),
    alone('A2A message/stream', 'rpc', () => [at, rpc('message/stream', { message: oldMessage(INPUT) })]),
    post('A2A SendStreamingMessage in a context', 'rpc', ({ thread_id }) => [
      at,
      rpc('SendStreamingMessage', { message: message(INPUT, { contextId: thread_id }) }),
    ]),
    alone('A2A SendMessage to a task', 'rpc', ({ task_id }) => [
      at,
      rpc('SendMessage', { message: message(INPUT, { taskId: task_id }) }),
    ]),
    post('A2A message:send in a context', 'status', ({ thread_id }) => [
      `${at}/message:send`,
      { message: message(INPUT, { contextId: thread_id }) },
    ]),
    alone('A2A message:stream', 'status', () => [`${at}/message:stream`, { message: message(INPUT) }]),
  ];
}

function toolDoors(): RunDoor[] {
  const call = (params: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'interrupting', arguments: {}, ...params },
  });
  return [
    alone('MCP tools/call', 'tool', () => ['/mcp', call({})]),
    alone('MCP tools/call of one assistant', 'tool', () => ['/mcp/interrupting', call({})]),
    post('MCP tools/call with a memory', 'tool', ({ thread_id }) => ['/mcp', call({ _meta: { thread_id } })]),
  ];
}
