import type { FastifyReply } from 'fastify';
import type { A2aParts, A2aRequest } from './calls.ts';
import type { CardRules } from './card-routes.ts';
import { type CardAnswers, cardAnswers } from './cards.ts';
import { type PushAnswers, pushAnswers, type RestAnswers, restAnswers } from './rest.ts';
import { answerRpc } from './rpc.ts';

/** Answers clients of A2A. */
export interface A2aDoor extends CardAnswers, RestAnswers, PushAnswers {
  rpc(request: A2aRequest, reply: FastifyReply): Promise<unknown>;
}

export function openDoor(parts: A2aParts & CardRules): A2aDoor {
  return {
    rpc: (request, reply) => answerRpc(parts, request, reply),
    ...cardAnswers(parts),
    ...restAnswers(parts),
    ...pushAnswers(parts),
  };
}
