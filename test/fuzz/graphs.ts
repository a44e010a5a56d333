const SAID = [{ role: 'user', content: 'Hi' }];

/** A graph that is fuzzed: an input that is good, and how a run with it ends. */
export interface FuzzedGraph {
  readonly path: string;
  readonly good: object;
  readonly ends: 'success' | 'interrupted' | 'error';
}

/** The file's place below the fixtures. */
function graph(path: string, good: object, ends: FuzzedGraph['ends'] = 'success'): FuzzedGraph {
  return { path: `test/fixtures/${path}`, good, ends };
}

/**
 * All graphs of the fixtures but those that do harm by themselves, whatever they are given: `poison` ends the process,
 * `blocks` holds its event loop, and `broken` does not load. Nor `delta-chat`: LangGraph plays the updates of a delta
 * channel again whenever it loads a state, one that the reducer refused as well, and the thread stays broken.
 */
export const FUZZED: Readonly<Record<string, FuzzedGraph>> = {
  echo: graph('graphs/echo.ts:graph', { x: 1 }),
  'ten-steps': graph('graphs/ten-steps.ts:graph', { n: 0 }),
  counter: graph('graphs/counter.ts:graph', { add: 1 }),
  sleeper: graph('graphs/sleeper.ts:graph', { ms: 0 }),
  tokens: graph('graphs/tokens.ts:graph', { count: 2, messages: SAID }),
  chat: graph('graphs/chat.ts:graph', { messages: SAID }),
  'chat-question': graph('graphs/chat-question.ts:graph', { messages: SAID }, 'interrupted'),
  'chat-usage': graph('graphs/chat-usage.ts:graph', { messages: SAID }),
  'nested-tokens': graph('graphs/nested-tokens.ts:graph', { count: 2, messages: SAID }),
  'three-levels': graph('graphs/three-levels.ts:graph', { path: ['a'] }),
  interrupting: graph('graphs/interrupting.ts:graph', { x: 1 }, 'interrupted'),
  branches: graph('graphs/branches.ts:graph', { amount: 1 }),
  nested: graph('graphs/nested.ts:graph', { ask: false }),
  'parallel-send': graph('graphs/parallel-send.ts:graph', { items: [1, 2], ask: false }),
  fails: graph('graphs/fails.ts:graph', { x: 1 }, 'error'),
  'ignores-abort': graph('graphs/ignores-abort.ts:graph', { ms: 0 }),
  'zod-state': graph('graphs/zod-state.ts:graph', { topic: 'tea' }),
  factory: graph('graphs/factory.ts:graph', { node: 'made' }),
  'plain-js': graph('graphs/plain-js.mjs:graph', { text: 'Hi' }),
  circle: graph('graphs/circle.ts:graph', { n: 0 }, 'error'),
  'odd-values': graph('graphs/odd-values.ts:graph', { want: 'text' }),
  regional: graph('graphs/regional.ts:graph', { region: 'here' }),
  weather: graph('graphs/weather.ts:graph', { city: 'Ulm' }),
  agent: graph('graphs/forms.ts:agent', { messages: SAID }),
  mirror: graph('a2a/mirror.ts:graph', { messages: SAID, answer: 'Hi' }),
  'throws-odd': graph('throws/odd.ts:graph', { what: 'nothing' }, 'error'),
  'throws-echoes': graph('throws/echoes.ts:graph', { text: 'Hi', times: 1 }, 'error'),
};
