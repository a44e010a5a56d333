import { expect, test } from 'vitest';
import { contentOf } from '../../../src/extensions/mcp/http/results.ts';

function answered(...content: object[]) {
  const values = {
    messages: [
      { type: 'human', content: 'Hi' },
      { type: 'ai', content },
    ],
  };
  return contentOf(values, values);
}

test.each([
  [
    { type: 'image', base64: 'AAAA', mime_type: 'image/png' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
  ],
  [
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
  ],
  [
    { type: 'file', base64: 'AAAA', mime_type: 'application/pdf', filename: 'the bill.pdf' },
    {
      type: 'resource',
      resource: { uri: 'attachment:the%20bill.pdf', blob: 'AAAA', mimeType: 'application/pdf' },
    },
  ],
  [
    { type: 'video', url: 'https://example.com/a.mp4', mime_type: 'video/mp4' },
    { type: 'resource_link', uri: 'https://example.com/a.mp4', name: 'video', mimeType: 'video/mp4' },
  ],
])('%j of an answer becomes MCP content', (block, content) => {
  expect(answered({ type: 'text', text: 'Here:' }, block)).toEqual([
    { type: 'text', text: 'Here:' },
    content,
  ]);
  expect(answered(block)).toEqual([content]);
});

test('parts that are neither text nor media are omitted from MCP content', () => {
  expect(
    answered({ type: 'text', text: 'Yes.' }, { type: 'tool_call', name: 'x' }, { type: 'image' }),
  ).toEqual([{ type: 'text', text: 'Yes.' }]);
});
