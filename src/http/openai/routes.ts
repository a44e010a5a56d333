import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../core/logger.ts';
import type { AssistantService } from '../../services/assistants.ts';
import type { ChatCompletionService } from '../../services/chat-completions.ts';
import type { RunReplies } from '../run-replies.ts';
import { chatRoutes } from './chat.ts';
import { useOpenAiErrors } from './errors.ts';
import { modelRoutes } from './models.ts';

interface Parts {
  readonly assistants: AssistantService;
  readonly chatCompletions: ChatCompletionService;
  readonly replies: RunReplies;
  readonly logger: Logger;
}

/** The door for chat front ends that speak OpenAI's API: a scope of its own, for its form of errors. */
export function openAiRoutes(server: FastifyInstance, parts: Parts): void {
  server.register((scope, _options, done) => {
    useOpenAiErrors(scope, parts.logger);
    modelRoutes(scope, parts);
    chatRoutes(scope, parts);
    done();
  });
}
