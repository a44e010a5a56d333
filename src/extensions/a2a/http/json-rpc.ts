import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  A2AError,
  RequestMalformedError,
  toJsonRpcError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyReply } from 'fastify';
import { NotFound, ServerError } from '../../../core/errors.ts';
import { isObject, type JsonObject } from '../../../core/json.ts';
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
  started,
} from './call.ts';
import { completeDetails, errorInfo, refusalOf } from './errors.ts';
import { requestHandler } from './methods.ts';
import { invalidLegacyMessage, invalidMessage, invalidPushConfig, normalizeParams } from './params.ts';

const METHODS_1_0 = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
];
const METHODS_0_3 = [
  'message/send',
  'message/stream',
  'tasks/get',
  'tasks/cancel',
  'tasks/resubscribe',
  'tasks/pushNotificationConfig/set',
  'tasks/pushNotificationConfig/get',
  'tasks/pushNotificationConfig/list',
  'tasks/pushNotificationConfig/delete',
  'agent/getAuthenticatedExtendedCard',
];
const STREAMING_METHODS = ['SendStreamingMessage', 'SubscribeToTask', 'message/stream', 'tasks/resubscribe'];
/** Checks that the SDK does not make before it parses the parameters. */
const PARAM_CHECKS: Readonly<Record<string, (params: unknown) => string | undefined>> = {
  SendMessage: invalidMessage,
  SendStreamingMessage: invalidMessage,
  'message/send': invalidLegacyMessage,
  'message/stream': invalidLegacyMessage,
  'tasks/pushNotificationConfig/set': invalidPushConfig,
};

interface RpcRequest extends JsonObject {
  readonly id: unknown;
  readonly method: string;
}

/** A JSON-RPC protocol error. */
class RpcError extends Error {
  readonly code: number;
  readonly id: unknown;
  constructor(code: number, message: string, id: unknown = null) {
    super(message);
    this.code = code;
    this.id = id;
  }
}

/** Serves JSON-RPC of both versions; the method name determines the version. */
export async function handleRpc(parts: A2aDeps, request: A2aRequest, reply: FastifyReply): Promise<unknown> {
  let id: unknown = null;
  const refusal = (error: ServerError) => {
    const { message, details: data } = refusalOf(error);
    return { jsonrpc: '2.0', id, error: { code: REFUSED, message, data } };
  };
  try {
    requireJson(request);
    const rpc = await envelopeOf(request);
    id = rpc.id;
    if (!isSupportedVersion(requestedVersion(request))) throw unsupportedVersion(requestedVersion(request));
    const version = versionOf(rpc);
    const params = normalizeParams(rpc['params'] ?? {}, version);
    const problem = PARAM_CHECKS[rpc.method]?.(params) ?? problemOfSize(A2aParams, params);
    if (problem !== undefined) throw new RequestMalformedError(problem);
    const cardData = await parts.a2a.cardDataOf(request.actor, request.params.assistant_id);
    const { contextId: context_id } = isObject(params) ? params : {};
    const open = (signal: AbortSignal) => {
      const call = a2aCall(request, cardData, parts, { version, signal, context_id });
      return dispatch(parts, call, { ...rpc, params });
    };
    if (!STREAMING_METHODS.includes(rpc.method)) {
      const text = async (signal: AbortSignal) => {
        const handling = await open(signal);
        return toJsonInSlices('answer' in handling ? handling.answer : undefined);
      };
      return await parts.replies.sendKeepAliveJson(reply, {}, text, { errorBody: refusal });
    }
    const answer = await sendStream(reply, parts, open, refusal);
    return answer === undefined ? reply : answer;
  } catch (error) {
    return { jsonrpc: '2.0', id: error instanceof RpcError ? error.id : id, error: rpcErrorOf(error) };
  }
}

/** Returns the response, or the messages of a stream that opened successfully. */
async function dispatch(parts: A2aDeps, call: ReturnType<typeof a2aCall>, rpc: RpcRequest) {
  const handler = requestHandler(parts, call);
  const transport =
    call.version === '0.3'
      ? new LegacyJsonRpcTransportHandler(handler)
      : new JsonRpcTransportHandler(handler);
  const context = new ServerCallContext({ requestedVersion: call.version });
  const handling = await transport.handle(rpc, context);
  if (!(Symbol.asyncIterator in handling)) {
    if (call.refusal) throw call.refusal;
    const { error } = handling as { error?: { code: number; message: string; data?: JsonObject[] } };
    return { answer: error ? { ...handling, error: withDetails(error) } : handling };
  }
  const messages = handling as AsyncGenerator<unknown, void, undefined>;
  try {
    const all = await started(call, messages);
    return { call, messages: call.version === '0.3' ? withFinalOnQuestions(all) : all };
  } catch (error) {
    if (call.refusal || rpc.method !== EVENTS_ONLY) throw call.refusal ?? error;
    return { call, messages: errorEvent(rpc.id, error) };
  }
}

/** Clients of this method expect an event stream even for an error. */
const EVENTS_ONLY = 'tasks/resubscribe';

async function* errorEvent(id: unknown, error: unknown): AsyncGenerator<unknown> {
  yield { jsonrpc: '2.0', id, error: rpcErrorOf(error) };
}

const INTERRUPTED_STATES = ['input-required', 'auth-required'];

/** Sets `final` on a 0.3 status update of an interrupt: the SDK sets it for terminal states only. */
async function* withFinalOnQuestions(messages: AsyncGenerator<unknown>): AsyncGenerator<unknown> {
  for await (const message of messages) {
    const { result } = message as { result?: { kind?: string; status?: { state?: string } } };
    const isEnd = result?.kind === 'status-update' && INTERRUPTED_STATES.includes(result.status?.state ?? '');
    yield isEnd ? { ...(message as object), result: { ...result, final: true } } : message;
  }
}

async function envelopeOf({ body, server }: A2aRequest): Promise<RpcRequest> {
  const json = await server.bodies.json(String(body));
  if ('problem' in json) throw new RpcError(-32700, 'The request is not JSON.');
  const rpc = json.value;
  if (!isObject(rpc))
    throw new RpcError(-32600, 'The request must be one JSON-RPC object; batch requests are not supported.');
  const { id = null, method } = rpc;
  const isId = id === null || typeof id === 'string' || Number.isInteger(id);
  if (rpc['jsonrpc'] !== '2.0') throw new RpcError(-32600, 'jsonrpc must be "2.0".', isId ? id : null);
  if (!isId) throw new RpcError(-32600, 'id must be a string, a whole number or null.');
  if (typeof method !== 'string' || method === '') throw new RpcError(-32600, 'method is missing.', id);
  const { params } = rpc;
  if (params !== undefined && !isObject(params)) throw new RpcError(-32602, 'params must be an object.', id);
  return { ...rpc, id, method };
}

function versionOf({ method, id }: RpcRequest): '0.3' | '1.0' {
  if (METHODS_0_3.includes(method)) return '0.3';
  if (METHODS_1_0.includes(method)) return '1.0';
  throw new RpcError(-32601, `Method not found: ${method}`, id);
}

/** `served`: the versions that this binding supports. */
export function unsupportedVersion(asked: string, served = '1.0, 0.3'): A2AError {
  return new VersionNotSupportedError(`A2A-Version ${asked} is not supported. Supported: ${served}.`);
}

/** Rethrows errors that HTTP reports: authorization failures and retryable ones. */
function rpcErrorOf(error: unknown) {
  if (error instanceof RpcError) {
    const { code, message } = error;
    return withDetails({ code, message, data: [errorInfo(REASONS[code] ?? 'INVALID_REQUEST')] });
  }
  if (error instanceof NotFound || (error instanceof ServerError && error.status === 422)) {
    return withDetails(toJsonRpcError(new RequestMalformedError(error.message)));
  }
  if (error instanceof A2AError) return withDetails(toJsonRpcError(error));
  if (error instanceof ServerError) throw error;
  return withDetails(toJsonRpcError(error));
}

/** The code that JSON-RPC leaves to servers, and A2A does not use. */
const REFUSED = -32000;

const REASONS: Readonly<Record<number, string>> = {
  [-32700]: 'PARSE_ERROR',
  [-32601]: 'METHOD_NOT_FOUND',
  [-32602]: 'INVALID_PARAMS',
};

/** Adds `google.rpc` details; invalid parameters get a field violation. */
function withDetails({ code, message, data = [] }: { code: number; message: string; data?: JsonObject[] }) {
  const reason = code === -32603 ? 'INTERNAL_ERROR' : 'INVALID_PARAMS';
  const details = data.length > 0 ? data : [errorInfo(reason)];
  return { code, message, data: completeDetails(details, { message, isInvalid: code === -32602 }) };
}
