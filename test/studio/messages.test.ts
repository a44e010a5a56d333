import { expect, test } from 'vitest';
import { withChunk } from '../../studio/src/screens/chat/chunks.ts';
import { type Message, mediaOf, reasoningOf, toolCallsOf } from '../../studio/src/screens/chat/messages.ts';

const merged = (chunks: readonly object[]) =>
  chunks
    .map((chunk) => ({ type: 'AIMessageChunk', content: '', ...chunk }) as Message)
    .reduce<Message | undefined>(withChunk, undefined) as Message;

test('streamed reasoning of the Responses API of OpenAI grows with each chunk', () => {
  const delta = (text: string, index: number) => ({
    content: [{ type: 'reasoning', reasoning: text, index }],
    additional_kwargs: { reasoning: { type: 'reasoning', summary: [{ type: 'summary_text', text, index }] } },
  });
  const chunks = [delta('It is ', 0), delta('sunny.', 0), delta('No umbrella.', 1)];
  expect(reasoningOf(merged(chunks))).toBe('It is sunny.\n\nNo umbrella.');
});

test('reasoning next to the content is read if the content has none', () => {
  const text = { content: [{ type: 'text', text: 'Sunny.' }] };
  expect(reasoningOf(merged([{ additional_kwargs: { reasoning_content: 'It is' } }, text]))).toBe('It is');
  const reasoning = { summary: [{ text: 'It is' }] };
  expect(reasoningOf(merged([{ additional_kwargs: { reasoning } }, text]))).toBe('It is');
});

test.each([undefined, null, ''])(
  'chunks of a tool call with the id %j belong to the call of their index',
  (id) => {
    const chunk = (fields: object) => ({ tool_call_chunks: [{ index: 0, ...fields }] });
    const message = merged([
      chunk({ id: 'call-1', name: 'look_up', args: '{"city":' }),
      chunk({ id, args: '"Rome"}' }),
    ]);
    expect(toolCallsOf(message)).toEqual([{ id: 'call-1', name: 'look_up', args: '{"city":"Rome"}' }]);
  },
);

test('tool calls without an id are told apart by their position', () => {
  const call = { id: '', name: 'look_up', args: {} };
  const message: Message = { type: 'ai', content: '', tool_calls: [call, call] };
  expect(toolCallsOf(message).map(({ id }) => id)).toEqual(['0', '1']);
  const chunks = merged([{ tool_call_chunks: [0, 1].map((index) => ({ ...call, index, args: '' })) }]);
  expect(toolCallsOf(chunks).map(({ id }) => id)).toEqual(['0', '1']);
});

test.each([
  ['LangChain', { type: 'image', mime_type: 'image/png', data: 'AAAA' }, 'image', 'image/png'],
  ['LangChain', { type: 'audio', mime_type: 'audio/wav', data: 'AAAA' }, 'file', 'audio/wav'],
  ['MCP', { type: 'image', mimeType: 'image/png', data: 'AAAA' }, 'image', 'image/png'],
  ['Anthropic', { type: 'image', source: { media_type: 'image/png', data: 'AAAA' } }, 'image', 'image/png'],
])('%s media are read: %j', (_form, block, kind, mime) => {
  const url = `data:${mime};base64,AAAA`;
  expect(mediaOf({ type: 'tool', content: [block] })).toEqual([{ kind, name: mime, url }]);
});

test.each([
  [{ type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } }, 'image', 'File'],
  [{ type: 'file', file: { filename: 'b.pdf', file_data: 'https://a.test/b.png' } }, 'file', 'b.pdf'],
])('media that are nested in another object are read: %j', (block, kind, name) => {
  expect(mediaOf({ type: 'tool', content: [block] })).toEqual([{ kind, name, url: 'https://a.test/b.png' }]);
});
