import type { Block, Message, ToolCallChunk } from './messages.ts';

const CHUNK = /^(AI|Human|System|Tool|Function)MessageChunk$/;

/** A message with its next chunk appended. Streams also send whole messages, which replace the chunks. */
export function withChunk(before: Message | undefined, next: Message): Message {
  const kind = CHUNK.exec(next.type)?.[1];
  if (kind === undefined) return next;
  // Tool calls are read from the merged chunks until the whole message arrives: a single chunk is incomplete.
  const { tool_calls: _, ...chunk } = { ...next, type: kind.toLowerCase() };
  if (!before) return chunk;
  return {
    ...before,
    content: joinedContent(before.content, chunk.content),
    tool_call_chunks: joinedCalls(before.tool_call_chunks ?? [], chunk.tool_call_chunks ?? []),
    additional_kwargs: joinedTexts(before.additional_kwargs ?? {}, chunk.additional_kwargs ?? {}),
  };
}

function joinedContent(before: Message['content'], next: Message['content']): Message['content'] {
  if (typeof before === 'string' && typeof next === 'string') return before + next;
  return blocksOf(next).reduce(withBlock, blocksOf(before));
}

function blocksOf(content: Message['content']): readonly Block[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}

function withBlock(blocks: readonly Block[], next: Block): readonly Block[] {
  const index = next['index'];
  const at =
    index === undefined
      ? blocks.length - 1
      : blocks.findIndex((each) => each['index'] === index && each.type === next.type);
  const same = blocks[at];
  if (!same || same.type !== next.type || !('text' in next || index !== undefined)) return [...blocks, next];
  return blocks.with(at, joinedTexts(same, next));
}

/** Fields whose text is appended. Others are replaced. */
const GROWING = new Set(['text', 'thinking', 'reasoning', 'reasoning_content', 'input', 'args', 'signature']);

function joinedTexts<Fields extends object>(before: Fields, next: Fields): Fields {
  const joined = { ...before } as Record<string, unknown>;
  for (const [name, value] of Object.entries(next)) {
    const old = joined[name];
    joined[name] =
      GROWING.has(name) && typeof old === 'string' && typeof value === 'string' ? old + value : value;
  }
  return joined as Fields;
}

function joinedCalls(before: readonly ToolCallChunk[], next: readonly ToolCallChunk[]) {
  const calls = [...before];
  for (const chunk of next) {
    const at = calls.findIndex(({ index, id }) => index === chunk.index && (!chunk.id || chunk.id === id));
    const same = calls[at];
    if (same) calls[at] = { ...same, args: (same.args ?? '') + (chunk.args ?? '') };
    else calls.push(chunk);
  }
  return calls;
}
