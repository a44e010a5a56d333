import type { FastifyInstance } from 'fastify';
import { toJson } from '../../core/json.ts';
import {
  ChatCompletion,
  ChatCompletionCreate,
  ChatCompletionHeaders,
} from '../../schemas/chat-completions.ts';
import type { ChatCompletionService } from '../../services/chat-completions.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypes } from '../plugins/contract.ts';
import type { RunReplies } from '../run-replies.ts';
import { chunksOf, completionOf } from './completion.ts';

interface Parts {
  readonly chatCompletions: ChatCompletionService;
  readonly replies: Pick<RunReplies, 'sendEvents' | 'sendLate'>;
}

export function chatRoutes(server: FastifyInstance, { chatCompletions, replies }: Parts) {
  server.withTypeProvider<ZodTypes>().post(
    '/v1/chat/completions',
    {
      schema: {
        operationId: 'create_chat_completion',
        summary: 'Create chat completion',
        description:
          'Runs the assistant on a conversation and returns its answer. With `stream`, the answer arrives as server-sent events that end with `[DONE]`. If the assistant asks a question, the question is its answer, and the next message of the conversation responds to it.',
        tags: [TAGS.openai],
        headers: ChatCompletionHeaders,
        body: ChatCompletionCreate,
        example: { model: 'agent', messages: [{ role: 'user', content: 'Hello!' }] },
        response: { 200: ChatCompletion },
        response_headers: { 'X-Thread-Id': 'The thread of the conversation, if the conversation is stored.' },
        failures: { 404: 'Thread or assistant not found.' },
      },
    },
    async ({ actor, body, headers: asked }, reply) => {
      const named = asked['x-thread-id'] ?? threadOf(body) ?? body.user ?? undefined;
      const run = await chatCompletions.start(actor, body, named);
      const headers: Record<string, string> = named === undefined ? {} : { 'x-thread-id': run.thread_id };
      const { model, stream, stream_options } = body;
      if (!stream) {
        const result = async (signal: AbortSignal) =>
          toJson(await completionOf(chatCompletions.answer(run, signal), run, model));
        // Text already, which is passed on as it is.
        return (await replies.sendLate(reply, headers, result)) as unknown as ChatCompletion;
      }
      const include_usage = stream_options?.include_usage === true;
      await replies.sendEvents(reply, {
        headers,
        resumable: false,
        encode: ({ data }) => `data: ${data}\n\n`,
        frames: (signal) => chunksOf(chatCompletions.answer(run, signal), run, { model, include_usage }),
      });
    },
  );
}

function threadOf({ metadata }: ChatCompletionCreate): string | undefined {
  const thread_id = metadata?.['thread_id'];
  return typeof thread_id === 'string' && thread_id !== '' ? thread_id : undefined;
}
