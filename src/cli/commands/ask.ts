import { isUuid } from '../../core/ids.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { textAnswer } from '../../services/human-review.ts';
import { AnswerPrinter, aside } from '../ask/answer.ts';
import { inputFor, outputOf } from '../ask/input.ts';
import { answersOf, Person } from '../ask/person.ts';
import { call, type Server, stream } from '../ask/server.ts';
import { CONFIG_FLAG, type Command, type FlagValues, UsageError } from '../command.ts';
import { serverFor } from '../configured.ts';

export const ask: Command = {
  name: 'ask',
  summary: 'Asks an assistant of a running server, prints the answer as it comes, and asks you what it asks',
  args: [
    { name: 'assistant', text: 'the name of a graph, or the id of an assistant', required: true },
    { name: 'text', text: 'what to say, or an object of JSON as input; on a thread it may be left out' },
  ],
  flags: {
    ...CONFIG_FLAG,
    url: { value: 'URL', text: 'the server; else the one of the configuration' },
    key: { value: 'KEY', text: 'an API key of the server; else the first one of the configuration' },
    thread: { value: 'ID', text: 'continues this conversation' },
  },
  async run(values) {
    const server = await serverFor(values);
    const conversation = await begin(server, values);
    using person = new Person();
    for (let turn = await firstTurn(conversation, values['text']); ; ) {
      if (turn !== undefined && !(await answered(conversation, turn))) return 1;
      const interrupts = await waitingIn(conversation);
      if (interrupts.length === 0) break;
      const resume = await answersOf(person, interrupts);
      if (resume === undefined) return unanswered(conversation);
      turn = { command: { resume } };
    }
    aside(`thread ${conversation.thread_id}: continue with --thread ${conversation.thread_id}`);
    return 0;
  },
};

interface Conversation {
  readonly server: Server;
  readonly assistant: string;
  readonly thread_id: string;
}

/** What a run is made with. */
type Turn = { readonly input: JsonObject } | { readonly command: { readonly resume: unknown } };

async function begin(server: Server, { assistant = '', text, thread }: FlagValues): Promise<Conversation> {
  if (thread === undefined && text === undefined)
    throw new UsageError('ask: needs what to say, such as agent-server ask assistant "Hello"');
  if (thread !== undefined && !isUuid(thread))
    throw new UsageError('ask: --thread must be the id of a thread');
  const thread_id = thread ?? (await call<{ thread_id: string }>(server, 'POST', '/threads', {})).thread_id;
  return { server, assistant, thread_id };
}

/** A text answers what the thread waits for. Undefined without one: then the person is asked. */
async function firstTurn(conversation: Conversation, text: string | undefined): Promise<Turn | undefined> {
  if (text === undefined) return undefined;
  const [waiting, ...more] = await waitingIn(conversation);
  if (waiting !== undefined && more.length === 0)
    return { command: { resume: textAnswer(waiting.value, text) } };
  return { input: await inputFor(conversation.server, conversation.assistant, text) };
}

/** False when the run failed. It is cancelled when the person leaves. */
async function answered({ server, assistant, thread_id }: Conversation, turn: Turn): Promise<boolean> {
  const printer = new AnswerPrinter();
  let values: unknown;
  let failure: unknown;
  const body = {
    assistant_id: assistant,
    ...turn,
    stream_mode: ['messages-tuple', 'updates', 'values'],
    on_disconnect: 'cancel',
  };
  for await (const { event, data } of stream(server, `/threads/${thread_id}/runs/stream`, body)) {
    if (event === 'messages') printer.message(data);
    else if (event === 'updates') printer.updates(data);
    else if (event === 'values') values = data;
    else if (event === 'error') failure = data;
  }
  if (failure === undefined && !printer.hasSpoken && isObject(values) && !('__interrupt__' in values))
    printer.values(await outputOf(server, assistant, values));
  printer.end();
  if (failure === undefined) return true;
  const { error = 'Error', message = '' } = isObject(failure) ? failure : {};
  aside(`the run failed: ${error}: ${message}`);
  return false;
}

async function waitingIn({ server, thread_id }: Conversation): Promise<Interrupt[]> {
  const { tasks } = await call<ThreadState>(server, 'GET', `/threads/${thread_id}/state`);
  return tasks.flatMap(({ interrupts }) => interrupts ?? []);
}

function unanswered({ assistant, thread_id }: Conversation): number {
  aside(`\nthe run waits for an answer: agent-server ask ${assistant} --thread ${thread_id}`);
  return 1;
}
