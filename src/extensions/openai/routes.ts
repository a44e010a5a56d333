import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ServerError } from '../../core/errors.ts';
import { systemAssistantId } from '../../core/ids.ts';
import { toJson } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import type { ZodTypeProvider } from '../../http/plugins/validation.ts';
import type { RunReplies } from '../../http/run-replies.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import { Name } from '../../schemas/bounds.ts';
import type { AssistantService } from '../../services/assistants/assistants.ts';
import { chunksOf, completionOf, frameOf } from './completion.ts';
import { openAiError } from './error-body.ts';
import { useOpenAiErrors } from './errors.ts';
import { ChatCompletion, ChatCompletionCreate, ChatCompletionHeaders, Model, ModelList } from './schemas.ts';
import { type ChatCompletionDeps, type ChatCompletionService, chatCompletionService } from './service.ts';

const TAG = {
  tags: ['OpenAI API'],
  tag_description: 'Assistants as models, over the chat completions API.',
};

interface OpenAiDeps extends ChatCompletionDeps {
  readonly assistants: AssistantService;
  readonly replies: RunReplies;
  readonly logger: Logger;
}

/** OpenAI-compatible API for chat front ends, in its own scope because of its error format. */
export function openAiRoutes(server: FastifyInstance, parts: OpenAiDeps): void {
  server.register((scope, _options, done) => {
    useOpenAiErrors(scope, parts.logger);
    modelRoutes(scope, parts);
    chatRoutes(scope, chatCompletionService(parts), parts.replies);
    done();
  });
}

function chatRoutes(server: FastifyInstance, chatCompletions: ChatCompletionService, replies: RunReplies) {
  server.withTypeProvider<ZodTypeProvider>().post(
    '/v1/chat/completions',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'create_chat_completion',
        summary: 'Create chat completion',
        description:
          'Runs the assistant on a conversation and returns its answer. With `stream`, the answer arrives as server-sent events that end with `[DONE]`. If the assistant asks a question, the question is its answer, and the next message of the conversation responds to it.',
        ...TAG,
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
      const errorBody = ({ status, message }: ServerError) => openAiError(status, message);
      if (!stream) {
        const result = async (signal: AbortSignal) =>
          toJson(await completionOf(chatCompletions.answer(run, signal), run, model));
        // Already serialized.
        return (await replies.sendKeepAliveJson(reply, headers, result, {
          errorBody,
        })) as unknown as ChatCompletion;
      }
      const include_usage = stream_options?.include_usage === true;
      await replies.sendEvents(reply, {
        headers,
        resumable: false,
        encode: ({ data }) => `data: ${data}\n\n`,
        refusal: (error) => frameOf(errorBody(error)),
        frames: (signal) => chunksOf(chatCompletions.answer(run, signal), run, { model, include_usage }),
      });
    },
  );
}

function threadOf({ metadata }: ChatCompletionCreate): string | undefined {
  const thread_id = metadata?.['thread_id'];
  return typeof thread_id === 'string' && thread_id !== '' ? thread_id : undefined;
}

/** Publishes every assistant visible to the caller as a model. */
function modelRoutes(server: FastifyInstance, { assistants }: { assistants: AssistantService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/v1/models',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_models',
        summary: 'List models',
        description: 'Every assistant is a model: a graph by its name, an assistant of your own by its id.',
        ...TAG,
        response: { 200: ModelList },
      },
    },
    async ({ actor }) => ({
      object: 'list' as const,
      data: (await assistants.listAll(actor)).map(modelOf),
    }),
  );

  app.get(
    '/v1/models/:model',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_model',
        summary: 'Get model',
        description: 'One assistant as a model.',
        ...TAG,
        params: z.object({
          model: Name.meta({ description: 'A graph or an assistant.', example: 'agent' }),
        }),
        response: { 200: Model },
        failures: { 404: 'Thread or assistant not found.' },
      },
    },
    async ({ actor, params }) => modelOf(await assistants.resolve(actor, params.model)),
  );
}

function modelOf({
  assistant_id,
  graph_id,
  created_at,
}: Pick<Assistant, 'assistant_id' | 'graph_id' | 'created_at'>): Model {
  const id = assistant_id === systemAssistantId(graph_id) ? graph_id : assistant_id;
  return { id, object: 'model', created: Math.floor(Date.parse(created_at) / 1000), owned_by: graph_id };
}
