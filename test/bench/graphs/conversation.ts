import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { Annotation, END, messagesStateReducer, START, StateGraph } from '@langchain/langgraph';

/** A chat whose history grows: each turn brings a question and adds an answer of about 500 characters. */
const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
});

const ANSWER = 'The quick brown fox jumps over the lazy dog. '.repeat(11);

export const graph = new StateGraph(State)
  .addNode('answer', ({ messages }) => ({ messages: [new AIMessage(`${messages.length}: ${ANSWER}`)] }))
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile();
