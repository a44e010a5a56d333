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

const State = new StateSchema({ messages: MessagesValue });

type Node = GraphNode<typeof State>;

/** `Reserve a table for 4 tonight` is clear; without a number it asks. */
const reserve: Node = ({ messages }, { writer }) => {
  writer?.({ a2a: { status: 'Looking for a free table' } });
  const order = messages.at(-1)?.text ?? '';
  const people = peopleIn(order) ?? peopleIn(`for ${interrupt({ question: 'For how many people?' })}`);
  const text = people === undefined ? 'No table is reserved.' : `A table for ${people} is reserved.`;
  return { messages: [new AIMessage(text)] };
};

function peopleIn(text: string): string | undefined {
  return /\bfor (\d+)\b/.exec(text)?.[1];
}

export const graph = new StateGraph(State)
  .addNode('reserve', reserve)
  .addEdge(START, 'reserve')
  .addEdge('reserve', END)
  .compile();
