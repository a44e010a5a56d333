import { AIMessage } from '@langchain/core/messages';
import { END, MessagesValue, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

const State = new StateSchema({
  messages: MessagesValue,
  /** Messages answered on this thread: it grows from run to run, because the server keeps the state. */
  count: z.number().default(0),
});

/** Answers with the words of the last message. */
const echo: typeof State.Node = ({ messages, count }) => ({
  messages: [new AIMessage(messages.at(-1)?.text ?? '')],
  count: count + 1,
});

export const graph = new StateGraph(State)
  .addNode('echo', echo)
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile();
