import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import type { BaseLanguageModelInput } from '@langchain/core/language_models/base';
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage, type UsageMetadata } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import type { Runnable } from '@langchain/core/runnables';

/** What the model says next: words, or calls of tools. */
export interface Reply {
  text?: string;
  tool_calls?: { name: string; args: Record<string, unknown> }[];
}

export type Script = (messages: BaseMessage[]) => Reply;

interface CallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

/**
 * A chat model that answers by rules instead of a network: it streams word by word and calls tools as a hosted model
 * does, so that everything around it can be built, shown and tested without a key.
 */
export class ScriptedChatModel extends BaseChatModel<CallOptions> {
  readonly #script: Script;
  readonly #delay_ms: number;

  /** `delay_ms` is the pause before each token. */
  constructor({ script, delay_ms = 10 }: { script: Script; delay_ms?: number }) {
    super({});
    this.#script = script;
    this.#delay_ms = delay_ms;
  }

  override _llmType(): string {
    return 'scripted';
  }

  /** What its calls are listed and priced as. */
  override invocationParams() {
    return { model: 'scripted' };
  }

  override bindTools(tools: BindToolsInput[]): Runnable<BaseLanguageModelInput, AIMessageChunk, CallOptions> {
    return this.withConfig({ tools });
  }

  override async _generate(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole = tokenOf({ content: '' });
    for await (const chunk of this._streamResponseChunks(messages, options, runManager)) {
      whole = whole.concat(chunk);
    }
    return { generations: [whole] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const tokens = [...tokensOf(this.#script(messages))];
    for (const [n, chunk] of tokens.entries()) {
      if (n === tokens.length - 1)
        Object.assign(chunk.message, { usage_metadata: usageOf(messages, tokens.length) });
      // The signal ends the answer in the middle when the run is cancelled.
      await sleep(this.#delay_ms, undefined, options.signal && { signal: options.signal });
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

/** Hosted models count, too. What is sent is estimated: four characters are a token. */
function usageOf(messages: BaseMessage[], output_tokens: number): UsageMetadata {
  const input_tokens = Math.ceil(messages.reduce((sum, { text }) => sum + text.length, 0) / 4);
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

/**
 * Words one by one; the arguments of a tool call in pieces, as hosted models stream them. The text is block 0 of the
 * message, so calls beside it count from 1: event streaming merges blocks of one index, and the calls would be lost.
 */
function* tokensOf({ text = '', tool_calls = [] }: Reply): Generator<ChatGenerationChunk> {
  for (const word of text.match(/\s*\S+/g) ?? []) yield tokenOf({ content: word });
  for (const [position, { name, args }] of tool_calls.entries()) {
    const index = position + (text === '' ? 0 : 1);
    const call = { index, type: 'tool_call_chunk' as const };
    const id = `call_${randomUUID()}`;
    yield tokenOf({ content: '', tool_call_chunks: [{ ...call, id, name, args: '' }] });
    for (const part of JSON.stringify(args).match(/.{1,16}/gsu) ?? []) {
      yield tokenOf({ content: '', tool_call_chunks: [{ ...call, args: part }] });
    }
  }
}

function tokenOf(fields: {
  content: string;
  tool_call_chunks?: NonNullable<AIMessageChunk['tool_call_chunks']>;
}): ChatGenerationChunk {
  return new ChatGenerationChunk({ text: fields.content, message: new AIMessageChunk(fields) });
}
