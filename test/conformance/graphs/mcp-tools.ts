import { setTimeout as delay } from 'node:timers/promises';
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { PNG, WAV } from './media.ts';

/** The tools of the MCP conformance suite that a graph can be: each says its content by the key `mcp` of its output. */
const State = Annotation.Root({ prompt: Annotation<string>(), mcp: Annotation<unknown>() });

type Act = (config: LangGraphRunnableConfig) => unknown;

function tool(act: Act) {
  return new StateGraph(State)
    .addNode('act', async (_state, config: LangGraphRunnableConfig) => ({
      mcp: { content: await act(config) },
    }))
    .addEdge(START, 'act')
    .addEdge('act', END)
    .compile();
}

function said(value: string) {
  return [{ type: 'text', text: value }];
}

function resource(uri: string, mimeType: string, text: string) {
  return { type: 'resource', resource: { uri, mimeType, text } };
}

const image = { type: 'image', data: PNG, mimeType: 'image/png' };

export const test_simple_text = tool(() => said('This is a simple text response for testing.'));
export const test_image_content = tool(() => [image]);
export const test_audio_content = tool(() => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]);
export const test_embedded_resource = tool(() => [
  resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
]);
export const test_multiple_content_types = tool(() => [
  ...said('Multiple content types test:'),
  image,
  resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
]);
export const test_error_handling = tool(() => {
  throw new Error('This tool intentionally returns an error for testing');
});

export const test_tool_with_progress = tool(async ({ writer }) => {
  for (const progress of [0, 50, 100]) {
    writer?.({ mcp: { progress, total: 100 } });
    await delay(50);
  }
  return said('Progress completed');
});

export const test_tool_with_logging = tool(async ({ writer }) => {
  for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    writer?.({ mcp: { log: { level: 'info', data } } });
    await delay(50);
  }
  return said('Logging completed');
});
export const test_logging_tool = test_tool_with_logging;

/** One request to the client, as an interrupt asks it. */
function asking(key: string, method: string, params: object = {}) {
  return { mcp: { key, method, params } };
}

function form(message: string, field: string, type = 'string') {
  return {
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type } }, required: [field] },
  };
}

function prompt(text: string, maxTokens: number) {
  return { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens };
}

const askName = (key: string, message: string) =>
  interrupt<object, { name?: string }>(asking(key, 'elicitation/create', form(message, 'name')));

export const test_input_required_result_elicitation = tool(() => {
  const { name } = askName('user_name', 'What is your name?');
  return said(`Hello, ${name}!`);
});
export const test_streaming_elicitation = test_input_required_result_elicitation;

const capital = () =>
  interrupt<object, { content?: { text?: string } }>(
    asking('capital_question', 'sampling/createMessage', prompt('What is the capital of France?', 100)),
  );

export const test_input_required_result_sampling = tool(() =>
  said(`The model said: ${capital().content?.text}`),
);
export const test_missing_capability = test_input_required_result_sampling;
export const test_input_required_result_capabilities = tool((config) => {
  const declared = (config.configurable?.['protocol']?.client_capabilities ?? {}) as object;
  return said(
    'sampling' in declared
      ? `The model said: ${capital().content?.text}`
      : `Hello, ${askName('user_name', 'What is your name?').name}!`,
  );
});

export const test_input_required_result_list_roots = tool(() => {
  const { roots } = interrupt<object, { roots?: unknown[] }>(asking('client_roots', 'roots/list'));
  return said(`Roots: ${JSON.stringify(roots)}`);
});

function confirmed() {
  const { ok } = interrupt<object, { ok?: boolean }>(
    asking('confirm', 'elicitation/create', form('Please confirm', 'ok', 'boolean')),
  );
  return said(`state-ok: ${ok}`);
}

export const test_input_required_result_request_state = tool(confirmed);
export const test_input_required_result_tampered_state = tool(confirmed);

export const test_input_required_result_multiple_inputs = tool(() => {
  const answers = interrupt({
    user_name: asking('user_name', 'elicitation/create', form('What is your name?', 'name')),
    greeting: asking('greeting', 'sampling/createMessage', prompt('Generate a greeting', 50)),
    client_roots: asking('client_roots', 'roots/list'),
  });
  return said(`Answers: ${JSON.stringify(answers)}`);
});

export const test_input_required_result_multi_round = tool(() => {
  const { name } = askName('step1', 'Step 1: What is your name?');
  const { color } = interrupt<object, { color?: string }>(
    asking('step2', 'elicitation/create', form('Step 2: What is your favorite color?', 'color')),
  );
  return said(`${name} likes ${color}.`);
});
