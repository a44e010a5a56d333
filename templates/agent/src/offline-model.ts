import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';

/** Answers by rules instead of a network, so that the project runs and is tested without a key. */
export class OfflineModel extends BaseChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return 'offline';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    let whole = new ChatGenerationChunk({ text: '', message: new AIMessageChunk('') });
    for await (const chunk of this._streamResponseChunks(messages)) whole = whole.concat(chunk);
    return { generations: [whole] };
  }

  override async *_streamResponseChunks(messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    const last = messages.at(-1);
    const asksForTime = /\btime\b/i.test(last?.text ?? '');
    if (last?.type === 'tool') yield* words(`It is ${last.text}.`);
    else if (asksForTime) yield call('current_time', { timezone: zoneIn(last?.text ?? '') });
    else yield* words('Hello! I have no model yet. Ask me what time it is, or set MODEL in .env.');
  }
}

function zoneIn(text: string): string {
  return /\b[A-Z]\w+\/[A-Z]\w+\b/.exec(text)?.[0] ?? 'UTC';
}

function* words(text: string): Generator<ChatGenerationChunk> {
  for (const word of text.match(/\s*\S+/g) ?? [])
    yield new ChatGenerationChunk({ text: word, message: new AIMessageChunk(word) });
}

function call(name: string, args: object): ChatGenerationChunk {
  const chunk = {
    name,
    args: JSON.stringify(args),
    id: crypto.randomUUID(),
    index: 0,
    type: 'tool_call_chunk',
  } as const;
  return new ChatGenerationChunk({
    text: '',
    message: new AIMessageChunk({ content: '', tool_call_chunks: [chunk] }),
  });
}
