import { AIMessage } from '@langchain/core/messages';
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';

const State = Annotation.Root({ ...MessagesAnnotation.spec, a2a: Annotation<object | null> });

const FILE = { filename: 'output.txt', mediaType: 'text/plain' };
const RAW = Buffer.from('Generated file content').toString('base64');

/** What the suite's names of messages ask for; the longest that fits decides. */
const OUTPUTS: Record<string, object> = {
  'tck-artifact-text': artifact([{ text: 'Generated text content' }]),
  'tck-artifact-file': artifact([{ raw: RAW, ...FILE }]),
  'tck-artifact-file-url': artifact([{ url: 'https://example.com/output.txt', ...FILE }]),
  'tck-artifact-data': artifact([{ data: { key: 'value', count: 42 } }]),
  'tck-message-response': { message: 'Direct message response' },
  'tck-reject-task': { reject: 'rejected' },
  'tck-stream-001': artifact([{ text: 'Stream hello from TCK' }]),
  'tck-stream-003': artifact([{ text: 'Stream task lifecycle' }]),
  'tck-stream-ordering-001': artifact([{ text: 'Ordered output' }]),
  'tck-stream-artifact-text': artifact([{ text: 'Streamed text content' }]),
  'tck-stream-artifact-file': artifact([{ raw: RAW, ...FILE }]),
};
const PREFIXES = [
  ...Object.keys(OUTPUTS),
  'tck-stream-artifact-chunked',
  'tck-input-required',
  'test-resubscribe-message-id',
];

const RESUBSCRIBE_MS = 4_500;

function artifact(parts: object[]): object {
  return { artifacts: [{ name: 'result', parts }] };
}

/** Behaves as the last message's id begins. */
async function act({ messages }: typeof State.State, config: LangGraphRunnableConfig) {
  const asked = behaviour(messages.at(-1)?.id ?? '');
  if (asked === 'tck-stream-artifact-chunked') {
    const id = `chunked-${messages.at(-1)?.id}`;
    const write = (text: string, more: object) =>
      config.writer?.({ a2a: { artifact: { id, name: 'chunks', parts: [{ text }], ...more } } });
    write('chunk-1 ', {});
    write('chunk-2', { append: true, last_chunk: true });
    return { a2a: { artifacts: [] } };
  }
  if (asked === 'test-resubscribe-message-id') {
    await new Promise((resolve) => setTimeout(resolve, RESUBSCRIBE_MS));
  }
  const output = OUTPUTS[asked];
  return output ? { a2a: output } : { a2a: null, messages: [new AIMessage('Hello from TCK')] };
}

/** Asks again until a message says that it is complete. */
function ask(_state: typeof State.State, config: LangGraphRunnableConfig) {
  interrupt('Please provide more input');
  return { a2a: { is_complete: messageId(config).startsWith('tck-complete-task') } };
}

function messageId(config: LangGraphRunnableConfig): string {
  const { message_id = '' } = (config.configurable?.['protocol'] ?? {}) as { message_id?: string };
  return message_id;
}

function behaviour(id: string): string {
  return PREFIXES.filter((prefix) => id.startsWith(prefix)).sort((a, b) => b.length - a.length)[0] ?? '';
}

export const tck = new StateGraph(State)
  .addNode('act', act)
  .addNode('ask', ask)
  .addConditionalEdges(START, ({ messages }) =>
    behaviour(messages.at(-1)?.id ?? '') === 'tck-input-required' ? 'ask' : 'act',
  )
  .addConditionalEdges('ask', ({ a2a }) =>
    (a2a as { is_complete?: boolean } | null)?.is_complete ? 'act_after' : 'ask',
  )
  .addNode('act_after', () => ({ a2a: null, messages: [new AIMessage('Hello from TCK')] }))
  .addEdge('act', END)
  .addEdge('act_after', END)
  .compile();

const TCK03_MS = 1_500;

/** Works for a while, then asks. */
export const tck03 = new StateGraph(MessagesAnnotation)
  .addNode('work', async () => {
    await new Promise((resolve) => setTimeout(resolve, TCK03_MS));
    return {};
  })
  .addNode('ask', () => {
    interrupt({ question: 'What next?' });
    return { messages: [new AIMessage('Done')] };
  })
  .addEdge(START, 'work')
  .addEdge('work', 'ask')
  .addEdge('ask', 'work')
  .compile();
