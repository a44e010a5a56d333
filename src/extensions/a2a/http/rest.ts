import {
  AgentCard,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import {
  A2AError,
  RequestMalformedError,
  restStatusFor,
  TaskNotFoundError,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import { ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServerError } from '../../../core/errors.ts';
import { isObject, type JsonObject, toJson } from '../../../core/json.ts';
import { toJsonInSlices } from '../../../core/json-slices.ts';
import { problemOfSize } from '../../../http/plugins/validation.ts';
import { A2aParams } from '../schemas.ts';
import {
  type A2aDeps,
  type A2aRequest,
  a2aCall,
  isSupportedVersion,
  requestedVersion,
  requireJson,
  sendStream,
} from './call.ts';
import { SCHEMA_TIMEOUT_MS } from './card.ts';
import { completeDetails, refusalOf } from './errors.ts';
import { unsupportedVersion } from './json-rpc.ts';
import { type A2aCall, requestHandler } from './methods.ts';
import { invalidMessage, normalizeParams } from './params.ts';

type Handler = ReturnType<typeof requestHandler>;
type Answer = (handler: Handler, context: ServerCallContext) => Promise<unknown>;
type Events = (handler: Handler, context: ServerCallContext) => AsyncGenerator<StreamResponse, void>;

export type RestRequest = FastifyRequest<{
  Params: { assistant_id: string; task: string; config_id: string };
  Querystring: Record<string, string | undefined>;
}>;

type RestHandler = (request: RestRequest, reply: FastifyReply) => Promise<unknown>;
type RestHandlers = Readonly<Record<string, RestHandler>>;

/** HTTP+JSON binding of A2A 1.0 (§11). */
export function restHandlers(parts: A2aDeps) {
  const { answer, stream } = replies(parts);
  return {
    send: (request, reply) =>
      answer(request, reply, async (handler, context) => {
        const sent = await handler.sendMessage(await messageIn(request), context);
        return 'messageId' in sent ? { message: Message.toJSON(sent) } : { task: Task.toJSON(sent) };
      }),

    stream: (request, reply) =>
      stream(request, reply, async function* (handler, context) {
        yield* handler.sendMessageStream(await messageIn(request), context);
      }),

    list: (request, reply) =>
      answer(request, reply, async (handler, context) => {
        const asked = ListTasksRequest.fromJSON(listQuery(request.query));
        const page = await handler.listTasks(asked, context);
        const { tasks = [] } = ListTasksResponse.toJSON(page) as { tasks?: object[] };
        const { nextPageToken, pageSize, totalSize } = page;
        const listed = asked.includeArtifacts ? tasks.map((task) => ({ artifacts: [], ...task })) : tasks;
        return { tasks: listed, nextPageToken, pageSize, totalSize };
      }),

    read(request, reply) {
      const { id, verb } = taskIn(request);
      if (verb === 'subscribe') return stream(request, reply, subscribe(id));
      const { historyLength } = listQuery(request.query) as { historyLength?: string };
      const length = historyLength === undefined ? {} : { historyLength: Number(historyLength) };
      const asked = { id: request.params.task, tenant: '', ...length };
      return answer(request, reply, async (handler, context) =>
        Task.toJSON(await handler.getTask(asked, context)),
      );
    },

    act(request, reply) {
      const { id, verb } = taskIn(request);
      if (verb === 'subscribe') return stream(request, reply, subscribe(id));
      return answer(request, reply, async (handler, context) => {
        if (verb !== 'cancel')
          throw new TaskNotFoundError('Not found: a task supports only :cancel and :subscribe.');
        return Task.toJSON(await handler.cancelTask({ id, tenant: '', metadata: undefined }, context));
      });
    },

    extendedCard: (request, reply) =>
      answer(
        request,
        reply,
        async (handler, context) =>
          AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context)),
        SCHEMA_TIMEOUT_MS,
      ),
    ...pushConfigHandlers(parts),
  } satisfies RestHandlers;
}

/** Push notification configs of a task. */
function pushConfigHandlers(parts: A2aDeps) {
  const { answer } = replies(parts);
  const named = ({ params }: RestRequest) => ({ tenant: '', taskId: params.task, id: params.config_id });
  return {
    createSubscriber: (request, reply) =>
      answer(request, reply, async (handler, context) => {
        const config = TaskPushNotificationConfig.fromJSON(await paramsIn(request));
        const { taskId } = named(request);
        return TaskPushNotificationConfig.toJSON(
          await handler.createTaskPushNotificationConfig({ ...config, taskId }, context),
        );
      }),

    listSubscribers: (request, reply) =>
      answer(request, reply, async (handler, context) => {
        const asked = { ...named(request), pageSize: 0, pageToken: '' };
        const { configs } = await handler.listTaskPushNotificationConfigs(asked, context);
        return { configs: configs.map(TaskPushNotificationConfig.toJSON) };
      }),

    getSubscriber: (request, reply) =>
      answer(request, reply, async (handler, context) =>
        TaskPushNotificationConfig.toJSON(
          await handler.getTaskPushNotificationConfig(named(request), context),
        ),
      ),

    deleteSubscriber: (request, reply) =>
      answer(request, reply, async (handler, context) => {
        await handler.deleteTaskPushNotificationConfig(named(request), context);
        return {};
      }),
  } satisfies RestHandlers;
}

function replies(parts: A2aDeps) {
  const refusal = (error: ServerError) => ({ error: refusalOf(error) });
  // Only cards need the schemas, and a wait for them could outlast the first keep-alive: a status would be lost.
  const openCall = async (request: A2aRequest, signal: AbortSignal, schemas_ms = 0) => {
    checkRequest(request);
    const cardData = await parts.a2a.cardDataOf(request.actor, request.params.assistant_id, schemas_ms);
    const { contextId: context_id } = listQuery(request.query);
    const call = a2aCall(request, cardData, parts, { version: '1.0', signal, context_id });
    return {
      call,
      handler: requestHandler(parts, call),
      context: new ServerCallContext({ requestedVersion: '1.0' }),
    };
  };
  return {
    async answer(
      request: A2aRequest,
      reply: FastifyReply,
      work: Answer,
      schemas_ms?: number,
    ): Promise<unknown> {
      let call: A2aCall | undefined;
      try {
        const result = async (signal: AbortSignal) => {
          try {
            const { handler, context, ...made } = await openCall(request, signal, schemas_ms);
            call = made.call;
            return await toJsonInSlices(await work(handler, context));
          } catch (error) {
            if (!reply.raw.headersSent) throw error;
            return toJson(restErrorOf(call?.refusal ?? error).body);
          }
        };
        const text = await parts.replies.sendKeepAliveJson(reply, {}, result, { errorBody: refusal });
        if (text !== undefined && wantsA2aMediaType(request)) reply.type(A2A_MEDIA_TYPE);
        return text;
      } catch (error) {
        return sendRestError(reply, call?.refusal ?? error);
      }
    },

    async stream(request: A2aRequest, reply: FastifyReply, events: Events): Promise<unknown> {
      let call: A2aCall | undefined;
      try {
        await sendStream(
          reply,
          parts,
          async (signal) => {
            const { handler, context, ...made } = await openCall(request, signal);
            call = made.call;
            return { call, messages: inJson(events(handler, context)) };
          },
          refusal,
        );
        return reply;
      } catch (error) {
        return sendRestError(reply, call?.refusal ?? error);
      }
    },
  };
}

/** The protocol's media type; some of its clients do not know it. */
const A2A_MEDIA_TYPE = 'application/a2a+json';

function wantsA2aMediaType({ headers }: A2aRequest): boolean {
  const accepted = headers.accept ?? '*/*';
  const asked = accepted === '*/*' ? headers['content-type'] : accepted;
  return asked?.includes(A2A_MEDIA_TYPE) === true;
}

async function* inJson(events: AsyncGenerator<StreamResponse, void>): AsyncGenerator<unknown> {
  for await (const event of events) yield StreamResponse.toJSON(event);
}

function subscribe(id: string): Events {
  return (handler, context) => handler.resubscribe({ id, tenant: '' }, context);
}

function checkRequest(request: A2aRequest): void {
  const asked = requestedVersion(request);
  if (!isSupportedVersion(asked) || asked.startsWith('0.3')) throw unsupportedVersion(asked, '1.0');
  requireJson(request);
}

async function jsonIn({ body, server }: A2aRequest): Promise<JsonObject> {
  const given = await server.bodies.json(String(body));
  if ('value' in given && isObject(given.value)) return given.value;
  throw new RequestMalformedError('The body must be a JSON object.');
}

async function paramsIn(request: A2aRequest): Promise<unknown> {
  const params = normalizeParams(await jsonIn(request), '1.0');
  const problem = problemOfSize(A2aParams, params);
  if (problem !== undefined) throw new RequestMalformedError(problem);
  return params;
}

async function messageIn(request: A2aRequest): Promise<SendMessageRequest> {
  const params = await paramsIn(request);
  const problem = invalidMessage(params);
  if (problem !== undefined) throw new RequestMalformedError(problem);
  return SendMessageRequest.fromJSON(params);
}

/** Splits `<id>:cancel` into id and verb. */
function taskIn({ params: { task } }: RestRequest): { id: string; verb: string | undefined } {
  const verb = /:(cancel|subscribe)$/.exec(task)?.[1];
  return { verb, id: verb === undefined ? task : task.slice(0, -verb.length - 1) };
}

function listQuery(query: Record<string, string | undefined>): Record<string, unknown> {
  const named = normalizeParams(query, '1.0');
  const asked = isObject(named) ? named : {};
  return { ...asked, includeArtifacts: asked['includeArtifacts'] === 'true' };
}

function sendRestError(reply: FastifyReply, error: unknown) {
  const { status, body } = restErrorOf(error);
  return reply.code(status).send(body);
}

/** A Google API error. Rethrows authentication errors, which have the server's own `{detail}`. */
function restErrorOf(error: unknown): { status: number; body: JsonObject } {
  const known =
    error instanceof ServerError && (error.status === 404 || error.status === 422)
      ? new RequestMalformedError(error.message)
      : error;
  if (!(known instanceof A2AError) && !(known instanceof Error && known.constructor === Error)) throw known;
  const status = restStatusFor(known);
  const { error: body } = toRestErrorBody(known, status);
  const isInvalid = known instanceof RequestMalformedError;
  const details = completeDetails(body.details, { message: body.message, isInvalid });
  return { status, body: { error: { ...body, details } } };
}
