import { isUuid } from '../../core/ids.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { sleep } from '../../core/timers.ts';
import { StartFailure } from '../../node.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { AnswerPrinter, printNote, printWarning } from '../ask/answer-printer.ts';
import { call, type Server, stream } from '../ask/client.ts';
import { type AssistantRef, findAssistant, inputFor, outputOf } from '../ask/input.ts';
import { Prompter, parseAnswer, promptForAnswers, resumeWith } from '../ask/prompter.ts';
import { type Command, type FlagValues, SERVER_FLAGS, UsageError } from '../command.ts';
import { targetServer } from '../config.ts';

export const ask: Command = {
  name: 'ask',
  summary:
    'Sends a message to an assistant of a running server, streams the answer, and prompts for its questions',
  args: [
    { name: 'assistant', text: 'the name of a graph, or the id of an assistant', required: true },
    { name: 'text', text: 'the message, or a JSON object as input; optional with --thread' },
  ],
  flags: {
    ...SERVER_FLAGS,
    thread: { value: 'ID', text: 'continues this conversation' },
  },
  async run(values) {
    requireQuestion(values);
    const server = await targetServer(values);
    const asked = await findAssistant(server, values['assistant'] ?? '');
    let turn = await firstTurn(server, asked, values);
    const thread_id = values['thread'] ?? (await newThread(server));
    const more = continuation(server, thread_id, values);
    const conversation = { server, asked, thread_id, more, printer: new AnswerPrinter() };
    using person = new Prompter();
    for (;;) {
      if (turn !== undefined && !(await runTurn(conversation, turn))) return 1;
      const interrupts = await pendingInterrupts(server, thread_id);
      if (interrupts.length === 0) break;
      const resume = await promptForAnswers(person, interrupts);
      if (resume === undefined) return unanswered(conversation);
      turn = { command: { resume } };
    }
    printNote(`thread ${thread_id}: continue with ${more}`);
    return 0;
  },
};

interface Conversation {
  readonly server: Server;
  readonly asked: AssistantRef;
  readonly thread_id: string;
  /** Flags that continue the conversation. */
  readonly more: string;
  readonly printer: AnswerPrinter;
}

/** Body fields of a run. */
type Turn = { readonly input: JsonObject } | { readonly command: { readonly resume: unknown } };

function requireQuestion({ text, thread }: FlagValues): void {
  if (thread === undefined && text === undefined)
    throw new UsageError('ask: a message is required, such as agent-server ask agent "Hello"');
  if (thread !== undefined && !isUuid(thread))
    throw new UsageError('ask: --thread must be the id of a thread');
}

/** The given text answers a pending interrupt. `undefined` without one: the user is prompted. */
async function firstTurn(
  server: Server,
  asked: AssistantRef,
  { text, thread }: FlagValues,
): Promise<Turn | undefined> {
  if (text === undefined) return undefined;
  const [waiting, ...more] = thread === undefined ? [] : await pendingInterrupts(server, thread);
  if (more.length > 0) {
    const count = more.length + 1;
    throw new UsageError(`ask: the thread waits for ${count} answers: omit the text to be prompted for each`);
  }
  if (waiting !== undefined)
    return { command: { resume: resumeWith(waiting, parseAnswer(waiting.value, text)) } };
  return { input: await inputFor(server, asked, text) };
}

async function newThread(server: Server): Promise<string> {
  const request = { method: 'POST', path: '/threads', body: {} } as const;
  return (await call(server, request, isThread)).thread_id;
}

function isThread(value: unknown): value is { readonly thread_id: string } {
  return isObject(value) && typeof value['thread_id'] === 'string' && isUuid(value['thread_id']);
}

/** Flags that continue this conversation; omits the API key, which must not be printed. */
function continuation({ url }: Server, thread_id: string, { url: given, config }: FlagValues): string {
  const flags = [
    `--thread ${thread_id}`,
    given !== undefined && `--url ${shellQuoted(url)}`,
    config !== undefined && `--config ${shellQuoted(config)}`,
  ];
  return flags.filter((flag) => flag !== false).join(' ');
}

/** Quotes a word for a POSIX shell. */
function shellQuoted(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Resolves to false if the run failed. The run is cancelled if this process disconnects. */
async function runTurn(conversation: Conversation, turn: Turn): Promise<boolean> {
  const { server, asked, printer } = conversation;
  let failure: unknown;
  try {
    const outcome = await streamRun(conversation, turn);
    failure = outcome.failure;
    if (failure === undefined && !outcome.isInterrupted && !printer.hasPrinted && isObject(outcome.values)) {
      printer.answers(outcome.values, outcome.before);
      if (!printer.hasPrinted) printer.values(await outputOf(server, asked, outcome.values));
    }
  } finally {
    printer.end();
  }
  if (failure === undefined) return true;
  const { error = 'Error', message = '' } = isObject(failure) ? failure : {};
  printWarning(`the run failed: ${error}: ${message}`);
  return false;
}

interface Outcome {
  /** State before and after the run, if the stream reported both. */
  readonly before: unknown;
  readonly values: unknown;
  readonly isInterrupted: boolean;
  readonly failure: unknown;
}

/** Prints a run until it ends. Throws a `StartFailure` if the stream is cut off first. */
async function streamRun(conversation: Conversation, turn: Turn): Promise<Outcome> {
  const { server, asked, thread_id, more, printer } = conversation;
  const states: unknown[] = [];
  let run_id: unknown;
  let isInterrupted = false;
  let failure: unknown;
  const body = {
    assistant_id: asked.assistant_id ?? asked.name,
    ...turn,
    stream_mode: ['messages-tuple', 'updates', 'values'],
    on_disconnect: 'cancel',
  };
  const broken = `the stream ended early: continue thread ${thread_id} with agent-server ask ${shellQuoted(asked.name)} ${more}`;
  const request = { method: 'POST', path: `/threads/${thread_id}/runs/stream`, body } as const;
  for await (const { event, data } of stream(server, request, broken)) {
    if (event === 'messages') printer.message(data);
    else if (event === 'updates') printer.updates(data);
    else if (event === 'values') states.splice(1, 1, data);
    else if (event === 'error') failure = data ?? {};
    if (isObject(data) && event === 'metadata') run_id = data['run_id'] ?? run_id;
    if (isObject(data) && '__interrupt__' in data) isInterrupted = true;
  }
  if (failure !== undefined) return { before: undefined, values: undefined, isInterrupted, failure };
  const status = await finalStatus(server, thread_id, run_id);
  // A cancelled run has the status `interrupted`, too.
  if (status !== 'success' && !(status === 'interrupted' && isInterrupted)) throw new StartFailure(broken);
  const [before, values = before] = states;
  return {
    before: states.length > 1 ? before : undefined,
    values,
    isInterrupted,
    failure: undefined,
  };
}

/** Delay between polls, ms: the status may be committed after the end of the stream. */
const STATUS_WAIT_MS = 200;
const STATUS_ATTEMPTS = 5;

/** Polls the final status of a run; `undefined` if it is unavailable or the run still executes. */
async function finalStatus(server: Server, thread_id: string, run_id: unknown): Promise<unknown> {
  if (typeof run_id !== 'string' || !isUuid(run_id)) return undefined;
  const request = { method: 'GET', path: `/threads/${thread_id}/runs/${run_id}` } as const;
  for (let attempt = 0; attempt < STATUS_ATTEMPTS; attempt++) {
    const run = await call(server, request, isObject).catch(() => undefined);
    if (run && !['pending', 'running'].includes(String(run['status']))) return run['status'];
    await sleep(STATUS_WAIT_MS);
  }
  return undefined;
}

async function pendingInterrupts(server: Server, thread_id: string): Promise<Interrupt[]> {
  const path = `/threads/${thread_id}/state`;
  const { tasks } = await call(server, { method: 'GET', path }, isState);
  return tasks.flatMap(({ interrupts }) => (Array.isArray(interrupts) ? interrupts.filter(isInterrupt) : []));
}

function isState(value: unknown): value is { readonly tasks: readonly JsonObject[] } {
  return isObject(value) && Array.isArray(value['tasks']) && value['tasks'].every(isObject);
}

function isInterrupt(value: unknown): value is Interrupt {
  return isObject(value) && 'value' in value;
}

function unanswered({ asked, more }: Conversation): number {
  // The cursor is still behind the prompt.
  process.stderr.write('\n');
  printNote(`the run waits for an answer: agent-server ask ${shellQuoted(asked.name)} ${more}`);
  return 1;
}
