import type { FastifyReply } from 'fastify';
import type { A2aParts, A2aRequest } from './calls.ts';
import type { CardRules } from './card-routes.ts';
import { cardSigner } from './card-signer.ts';
import { type CardAnswers, cardAnswers } from './cards.ts';
import { type PushAnswers, pushAnswers, type RestAnswers, restAnswers } from './rest.ts';
import { answerRpc } from './rpc.ts';

/** Answers clients of A2A. */
export interface A2aDoor extends CardAnswers, RestAnswers, PushAnswers {
  rpc(request: A2aRequest, reply: FastifyReply): Promise<unknown>;
}

export async function openDoor(given: Omit<A2aParts, 'signer'> & CardRules): Promise<A2aDoor> {
  const { signing_key } = given;
  const parts = { ...given, signer: signing_key === undefined ? undefined : await cardSigner(signing_key) };
  return {
    rpc: (request, reply) => answerRpc(parts, request, reply),
    ...cardAnswers(parts),
    ...restAnswers(parts),
    ...pushAnswers(parts),
  };
}
