import { AIMessage } from '@langchain/core/messages';
import {
  END,
  type GraphNode,
  interrupt,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph';
import { z } from 'zod';
import { tell } from './agents.ts';

const Talk = new StateSchema({ messages: MessagesValue });

const State = new StateSchema({
  messages: MessagesValue,
  /** What the other agent asked, in which task. */
  asked: z.object({ task_id: z.string(), text: z.string() }).nullable().default(null),
  answer: z.string().default(''),
});

type Node = GraphNode<typeof State>;

/** Hands the guest's words on: an order, or the answer to what was asked. */
const handOn: Node = async ({ messages, asked, answer }, { writer }) => {
  const order = messages.at(-1);
  const text = asked ? answer : (order?.text ?? '');
  const message_id = `${order?.id}${asked ? '-answer' : ''}`;
  const reply = await tell('tables', { text, message_id, task_id: asked?.task_id }, (status) =>
    writer?.({ a2a: { status } }),
  );
  return reply.isQuestion
    ? { asked: { task_id: reply.task_id, text: reply.text } }
    : { asked: null, messages: [new AIMessage(reply.text)] };
};

/** A node of its own: a node that asks begins anew with the answer, and the order must not go out twice. */
const ask: Node = ({ asked }) => ({ answer: String(interrupt({ question: asked?.text })) });

export const graph = new StateGraph({ state: State, input: Talk, output: Talk })
  .addNode('handOn', handOn)
  .addNode('ask', ask)
  .addEdge(START, 'handOn')
  .addConditionalEdges('handOn', ({ asked }) => (asked ? 'ask' : END), ['ask', END])
  .addEdge('ask', 'handOn')
  .compile();
