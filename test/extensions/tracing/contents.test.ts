import { expect, test } from 'vitest';
import { conventionalProvider } from '../../../src/core/genai-providers.ts';
import { attributesOfContents } from '../../../src/extensions/tracing/contents.ts';
import { inputOf } from '../../../src/graphs/steps/contents.ts';

const asIs = (text: string) => text;

test('tool calls and their results are separate messages in traced contents', () => {
  const input = inputOf([
    [
      { type: 'human', content: [{ type: 'text', text: 'Look' }, { type: 'image_url' }] },
      { type: 'ai', content: '', tool_calls: [{ id: 'c1', name: 'search', args: { q: 'tea' } }] },
      { type: 'tool', content: 'found it', tool_call_id: 'c1' },
    ],
  ]);
  const attributes = attributesOfContents({ kind: 'model', contents: { input } }, asIs);
  const single = Object.entries(attributes).filter(([name]) => name.startsWith('llm.'));
  expect(Object.fromEntries(single)).toEqual({
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.content': 'Look\n(image_url)',
    'llm.input_messages.1.message.role': 'assistant',
    'llm.input_messages.1.message.content': '',
    'llm.input_messages.1.message.tool_calls.0.tool_call.id': 'c1',
    'llm.input_messages.1.message.tool_calls.0.tool_call.function.name': 'search',
    'llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments': '{"q":"tea"}',
    'llm.input_messages.2.message.role': 'tool',
    'llm.input_messages.2.message.content': 'found it',
    'llm.input_messages.2.message.tool_call_id': 'c1',
  });
});

test('documents are listed one by one in traced contents, and truncated ones as text', () => {
  const document = { pageContent: 'about tea', metadata: { page: 1 }, id: 'd1' };
  const output = JSON.stringify([document, { pageContent: 'about jam' }]);
  const found = attributesOfContents({ kind: 'retriever', contents: { output } }, asIs);
  expect(found).toMatchObject({
    'gen_ai.retrieval.documents': JSON.stringify([
      { id: 'd1', content: 'about tea', metadata: { page: 1 } },
      { content: 'about jam' },
    ]),
    'retrieval.documents.0.document.id': 'd1',
    'retrieval.documents.0.document.content': 'about tea',
    'retrieval.documents.0.document.metadata': '{"page":1}',
    'retrieval.documents.1.document.content': 'about jam',
  });
  const cut = { output: output.slice(0, 20) };
  expect(attributesOfContents({ kind: 'retriever', contents: cut }, asIs)).toEqual({
    'output.value': cut.output,
  });
});

test.each([
  ['google_vertexai', 'gcp.vertex_ai'],
  ['amazon_bedrock', 'aws.bedrock'],
  ['openai', 'openai'],
  ['ollama', 'ollama'],
  ['constructor', 'constructor'],
  [null, null],
])('the provider %s is named %s in spans', (provider, name) => {
  expect(conventionalProvider(provider)).toBe(name);
});
