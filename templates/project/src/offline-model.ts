import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';

/** A text, or the tools to call with their arguments. */
export type Answer = string | readonly { readonly tool: string; readonly args: object }[];

/** What a rule sees: the last request of the user, and what tools have returned since. */
export interface Turn {
  readonly request: string;
  readonly results: readonly string[];
}

/** Answers by rules instead of a network, so that the project runs and is tested without a key. */
export class OfflineModel extends BaseChatModel {
  readonly #rules: (turn: Turn) => Answer;

  constructor(rules: (turn: Turn) => Answer) {
    super({});
    this.#rules = rules;
  }

  override _llmType(): string {
    return 'offline';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    let whole = new ChatGenerationChunk({ text: '', message: new AIMessageChunk('') });
    for await (const chunk of this._streamResponseChunks(messages, options)) whole = whole.concat(chunk);
    return { generations: [whole] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const asked = messages.findLastIndex(({ type }) => type === 'human');
    const answer = this.#rules({
      request: messages[asked]?.text ?? '',
      results: messages.slice(asked + 1).flatMap(({ type, text }) => (type === 'tool' ? [text] : [])),
    });
    for (const chunk of typeof answer === 'string' ? words(answer) : calls(answer)) {
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

function* words(text: string): Generator<ChatGenerationChunk> {
  for (const word of text.match(/\s*\S+/g) ?? [])
    yield new ChatGenerationChunk({ text: word, message: new AIMessageChunk(word) });
}

function* calls(tools: Exclude<Answer, string>): Generator<ChatGenerationChunk> {
  for (const [index, { tool, args }] of tools.entries()) {
    const chunk = {
      name: tool,
      args: JSON.stringify(args),
      id: crypto.randomUUID(),
      index,
      type: 'tool_call_chunk',
    } as const;
    yield new ChatGenerationChunk({
      text: '',
      message: new AIMessageChunk({ content: '', tool_call_chunks: [chunk] }),
    });
  }
}
