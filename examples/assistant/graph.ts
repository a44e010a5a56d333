import { AIMessage, SystemMessage, type ToolCall, ToolMessage } from '@langchain/core/messages';
import {
  END,
  type GraphNode,
  interrupt,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { chatModel } from './model.ts';
import { SENSITIVE, tools } from './tools.ts';

const INSTRUCTIONS = `You work for a bicycle shop. Answer from its notes: look into them with search_notes, quote the
passage that answers the question, and name its file. Say so when the notes do not answer it. Send e-mail only when you
are asked to.`;

const State = new StateSchema({ messages: MessagesValue });

const Action = z.object({ args: z.record(z.string(), z.unknown()) });

/** One decision for each call that was asked about, in order: https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop */
const Decision = z.discriminatedUnion('type', [
  z.object({ type: z.literal('approve') }),
  // Clients for Python write the first, those for JavaScript the second.
  z.object({ type: z.literal('edit'), edited_action: Action.optional(), editedAction: Action.optional() }),
  z.object({ type: z.literal('reject'), message: z.string().optional() }),
]);

const Answer = z.object({ decisions: z.array(Decision.catch({ type: 'reject' })) });

const agent: GraphNode<typeof State> = async ({ messages }, config) => {
  const model = await chatModel();
  return { messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...messages], config)] };
};

/**
 * Asks a person before sensitive calls, in the shape that Agent Chat UI, Agent Inbox and Studio draw buttons for. A call
 * that is rejected, or that nobody decided on, gets its answer here; the node `tools` runs the others. On resume the node
 * starts again and `interrupt` returns the answer, so nothing else may happen here.
 */
const review: GraphNode<typeof State> = ({ messages }) => {
  const message = lastAnswer(messages);
  const calls = message.tool_calls ?? [];
  const sensitive = calls.filter(({ name }) => SENSITIVE.has(name));
  const answer = Answer.safeParse(interrupt(reviewRequest(sensitive))).data;
  const rejections: ToolMessage[] = [];
  const tool_calls = calls.map((call) => {
    if (!sensitive.includes(call)) return call;
    const decision = answer?.decisions[sensitive.indexOf(call)] ?? { type: 'reject' };
    if (decision.type === 'approve') return call;
    const edited = decision.type === 'edit' && (decision.edited_action ?? decision.editedAction);
    if (edited) return { ...call, args: edited.args };
    const reason = decision.type === 'reject' ? decision.message : undefined;
    const content = reason ?? `${call.name} was rejected, so I did not do it.`;
    rejections.push(new ToolMessage({ name: call.name, tool_call_id: call.id ?? '', content }));
    return call;
  });
  // The same id: the message with the decided arguments takes the place of the first one.
  return {
    messages: [new AIMessage({ id: message.id!, content: message.content, tool_calls }), ...rejections],
  };
};

/** What `humanInTheLoopMiddleware` of the package `langchain` asks, with the names that all front ends know. */
function reviewRequest(calls: readonly ToolCall[]) {
  return {
    action_requests: calls.map(({ name, args }) => ({
      name,
      args,
      description: `May I call ${name} with these arguments?\n\n${JSON.stringify(args, null, 2)}`,
    })),
    review_configs: calls.map(({ name }) => ({
      action_name: name,
      allowed_decisions: ['approve', 'edit', 'reject'],
    })),
  };
}

function afterAgent({ messages }: typeof State.State) {
  const calls = lastAnswer(messages).tool_calls ?? [];
  if (calls.length === 0) return END;
  return calls.some((call) => SENSITIVE.has(call.name)) ? 'review' : 'tools';
}

function lastAnswer(messages: (typeof State.State)['messages']): AIMessage {
  const last = messages.at(-1);
  if (!AIMessage.isInstance(last)) throw new Error('The last message is not one of the assistant.');
  return last;
}

export const graph = new StateGraph(State)
  .addNode('agent', agent)
  .addNode('review', review)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', afterAgent, ['review', 'tools', END])
  .addEdge('review', 'tools')
  .addEdge('tools', 'agent')
  .compile();
