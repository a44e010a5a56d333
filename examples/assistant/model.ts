import type { BaseLanguageModelInput } from '@langchain/core/language_models/base';
import type { AIMessageChunk } from '@langchain/core/messages';
import type { Runnable } from '@langchain/core/runnables';
import { script } from './script.ts';
import { ScriptedChatModel } from './scripted-model.ts';
import { tools } from './tools.ts';

/**
 * The scripted model, or a real one when the environment names it: OPENAI_API_KEY for OpenAI, OPENAI_BASE_URL for
 * any compatible endpoint, OPENAI_MODEL for the model.
 */
export async function chatModel(): Promise<Runnable<BaseLanguageModelInput, AIMessageChunk>> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = process.env;
  if (!OPENAI_API_KEY && !OPENAI_BASE_URL) return new ScriptedChatModel({ script }).bindTools(tools);
  // Loaded only when it is used: without a key the example needs no such package.
  const { ChatOpenAI } = await import('@langchain/openai');
  return new ChatOpenAI({
    model: OPENAI_MODEL || 'gpt-4o-mini',
    apiKey: OPENAI_API_KEY || 'not-needed',
    configuration: { baseURL: OPENAI_BASE_URL || undefined },
  }).bindTools(tools);
}
