import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

/** Asks `url`, as a model's package would: what the recorder and the network of a test must notice. */
const State = Annotation.Root({ url: Annotation<string>(), answer: Annotation<string>() });

export const graph = new StateGraph(State)
  .addNode('ask', async ({ url }) => {
    const answer = await fetch(url).then(
      ({ status }) => String(status),
      (error: Error) => String((error.cause as { code?: string } | undefined)?.code),
    );
    return { answer };
  })
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();
