import { z } from 'zod';
import { MAX_ITEMS, MAX_NAMES, Name } from '../../schemas/bounds.ts';

/** A message of OpenAI's chat completions API. */
const ChatMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: Name })).max(MAX_ITEMS)])
    .nullish()
    .describe('Text, or a list of parts: text, images, audio, files.'),
  name: Name.optional(),
  tool_call_id: Name.optional(),
  tool_calls: z
    .array(z.looseObject({ id: Name }))
    .max(MAX_NAMES)
    .optional(),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** Accepts and ignores model settings such as `temperature`: the graph has its own. */
export const ChatCompletionCreate = z.looseObject({
  model: Name.min(1).describe('The name of a graph, or the id of an assistant.'),
  messages: z
    .array(ChatMessage)
    .min(1)
    .max(MAX_ITEMS)
    .describe('The conversation; its last message is the question.'),
  stream: z.boolean().nullish().describe('Whether the answer is streamed as it is generated.'),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, 'must be 1: only one answer is generated').nullish(),
  user: Name.nullish().describe(
    'The name of the conversation, unless `X-Thread-Id` or `metadata.thread_id` names it.',
  ),
  metadata: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Stored with the run. `thread_id`: the thread of the conversation, or any name for it.'),
});
export type ChatCompletionCreate = z.infer<typeof ChatCompletionCreate>;

export const ChatCompletionHeaders = z.looseObject({
  'x-thread-id': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'The thread that stores the conversation, or any name for it.' }),
});

export const ChatUsage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});
export type ChatUsage = z.infer<typeof ChatUsage>;

const completion = { id: z.string(), created: z.int().describe('Epoch seconds.'), model: z.string() };
const finish_reason = z.literal('stop');

export const ChatCompletion = z.object({
  ...completion,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({ role: z.literal('assistant'), content: z.string(), refusal: z.null() }),
      logprobs: z.null(),
      finish_reason,
    }),
  ),
  usage: ChatUsage,
});
export type ChatCompletion = z.infer<typeof ChatCompletion>;

export const ChatCompletionChunk = z.object({
  ...completion,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      delta: z.object({ role: z.literal('assistant').optional(), content: z.string().optional() }),
      logprobs: z.null(),
      finish_reason: finish_reason.nullable(),
    }),
  ),
  usage: ChatUsage.nullish(),
});
export type ChatCompletionChunk = z.infer<typeof ChatCompletionChunk>;

export const Model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Epoch seconds.'),
  owned_by: z.string(),
});
export type Model = z.infer<typeof Model>;

export const ModelList = z.object({ object: z.literal('list'), data: z.array(Model) });
export type ModelList = z.infer<typeof ModelList>;
