import { AIMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
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

/** What a person answers to an interrupt. `arguments` replaces those it names, and alone means approval. */
const Decision = z.object({
  approved: z.boolean().optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
});

/** The same for clients that show a form, such as those of MCP. */
const FORM = {
  type: 'object',
  properties: { approved: { type: 'boolean', title: 'Approved' } },
  required: ['approved'],
};

const agent: GraphNode<typeof State> = async ({ messages }, config) => {
  const model = await chatModel();
  return { messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...messages], config)] };
};

/**
 * Asks a person before each sensitive call. A refused call gets its answer here; the node `tools` runs the others.
 * On resume the node starts again and `interrupt` returns the answers in order, so nothing else may happen here.
 */
const review: GraphNode<typeof State> = ({ messages }) => {
  const message = lastAnswer(messages);
  const refusals: ToolMessage[] = [];
  const tool_calls = (message.tool_calls ?? []).map((call) => {
    if (!SENSITIVE.has(call.name)) return call;
    const question = `May I call ${call.name}?`;
    const answer = interrupt({ question, tool: call.name, arguments: call.args, schema: FORM });
    const { approved, arguments: changes } = Decision.safeParse(answer).data ?? {};
    if (approved ?? changes !== undefined) return { ...call, args: { ...call.args, ...changes } };
    const content = `${call.name} was not approved, so I did not do it.`;
    refusals.push(new ToolMessage({ name: call.name, tool_call_id: call.id ?? '', content }));
    return call;
  });
  // The same id: the message with the approved arguments takes the place of the first one.
  return {
    messages: [new AIMessage({ id: message.id!, content: message.content, tool_calls }), ...refusals],
  };
};

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
