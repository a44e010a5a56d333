import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Actor } from '../../../auth/actor.ts';
import { ServerError, undefinedIfNotFound } from '../../../core/errors.ts';
import { isObject } from '../../../core/json.ts';
import type { Logger } from '../../../core/logger.ts';
import type { Run } from '../../../schemas/runs.ts';
import type { Interrupt } from '../../../schemas/threads.ts';
import type { McpService } from '../service.ts';
import type { AssistantTool } from '../tools.ts';
import { invalidArguments } from './arguments.ts';
import { answersTo, canAnswer, type Question, questionsOf } from './elicitation.ts';
import { progressNotifier } from './progress.ts';
import { failedResult, questionResult, valuesResult } from './results.ts';

/** The caller and the scope of the call. */
export interface Caller {
  readonly actor: Actor;
  /** Restricts the tools to this assistant; undefined exposes all that the caller may see. */
  readonly assistant_id: string | undefined;
  /** The tool that the request calls, if any. */
  readonly tool_name: string | undefined;
  /** Thread to use if the call names none. */
  readonly thread: string | undefined;
  /** Aborts with the error when the caller loses access, or the server closes. */
  readonly refused: AbortSignal;
  /** Set if a call can be cancelled other than by closing its connection. */
  readonly openCall?: (() => Cancellable) | undefined;
}

/** A call in progress until disposed. */
export interface Cancellable extends Disposable {
  readonly signal: AbortSignal;
}

export interface ToolCallDeps {
  readonly mcp: McpService;
  readonly logger: Logger;
  /** Whether a run is cancelled when its caller disconnects. */
  readonly cancel_on_disconnect: boolean;
}

interface ToolCall extends ToolCallDeps, Caller {
  readonly codec: RequestStateCodec<PendingCall>;
  readonly tool: AssistantTool;
  readonly ctx: ServerContext;
  /** Aborts when the client cancels the call, disconnects, or is refused. */
  readonly signal: AbortSignal;
}

type Params = CallToolRequest['params'];
type Reply = CallToolResult | InputRequiredResult;

/** Serves `tools/call`: starts a run, or resumes the one whose interrupt is answered, and awaits its outcome. */
export async function callTool(
  {
    tool,
    ...parts
  }: Omit<ToolCall, 'tool' | 'ctx' | 'signal'> & { readonly tool: AssistantTool | undefined },
  params: Params,
  ctx: ServerContext,
): Promise<Reply> {
  if (!tool) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
  }
  using cancellable = parts.openCall?.();
  const { signal: connection } = ctx.mcpReq;
  const signal = AbortSignal.any([connection, parts.refused, ...(cancellable ? [cancellable.signal] : [])]);
  const call = { ...parts, tool, ctx, signal };
  const pending = ctx.mcpReq.requestState<PendingCall>();
  try {
    return pending ? await resumeRun(call, pending) : await startRun(call, params);
  } catch (error) {
    if (error instanceof ServerError) return failedResult(error.message);
    throw error;
  }
}

async function startRun(call: ToolCall, params: Params): Promise<Reply> {
  const { mcp, actor, tool, ctx } = call;
  const given = isObject(params.arguments) ? params.arguments : {};
  const conversation = threadIdInMeta(ctx) ?? call.thread;
  const isAnswer = conversation !== undefined && 'resume' in given;
  const invalid = isAnswer ? undefined : invalidArguments(tool.schemas, given);
  if (invalid !== undefined) return failedResult(invalid);
  const { context } = params as { context?: unknown };
  const run = await mcp.start(actor, tool, {
    arguments: given,
    context: isObject(context) ? context : undefined,
    conversation,
  });
  return awaitOutcome(call, run, conversation === undefined);
}

async function resumeRun(call: ToolCall, pending: PendingCall): Promise<Reply> {
  const { mcp, actor, tool, ctx, signal, cancel_on_disconnect } = call;
  const { thread_id, is_own_thread } = pending;
  const questions = questionsOf(await pendingInterrupts(call, pending));
  const answers = answersTo(questions, ctx.mcpReq.inputResponses);
  if (!answers) return requestInput(call, questions, pending);
  const run = await mcp.resume(actor, tool, { thread_id, answers });
  const reply = await awaitOutcome(call, run, is_own_thread, pending);
  // The client disconnected and the run continues: the thread is deleted when it expires.
  if (signal.aborted && !cancel_on_disconnect) return reply;
  // Only the first run of a call deletes its thread on completion.
  if (is_own_thread && !isQuestion(reply)) await mcp.deleteThread(actor, thread_id);
  return reply;
}

/** Whether the client answers on the thread: a question that it cannot fill in comes as a result. */
function isQuestion(reply: Reply): boolean {
  return (
    isInputRequiredResult(reply) ||
    (isObject(reply.structuredContent) && '__interrupt__' in reply.structuredContent)
  );
}

/** The interrupts of the call that are still pending. */
async function pendingInterrupts(
  { mcp, actor }: ToolCall,
  { thread_id, interrupt_ids }: PendingCall,
): Promise<Interrupt[]> {
  const interrupts = (await mcp.interrupts(actor, thread_id).catch(undefinedIfNotFound)) ?? [];
  const asked = interrupts.filter(({ id }) => interrupt_ids.includes(String(id)));
  if (asked.length > 0) return asked;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'This question is no longer pending: call the tool again.',
  );
}

/** `resumed`: the call that the run answers; it is asked again if the answer is refused. */
async function awaitOutcome(
  call: ToolCall,
  run: Run,
  is_own_thread: boolean,
  resumed?: PendingCall,
): Promise<Reply> {
  const { mcp, logger, tool, ctx, signal, refused } = call;
  const outcome = await mcp.outcome(run, progressNotifier(ctx, logger), signal);
  // The run continues.
  refused.throwIfAborted();
  if (signal.aborted && call.cancel_on_disconnect) {
    await mcp.abandon(run);
    return failedResult('The call was cancelled.', run);
  }
  if (outcome.kind === 'failed' && outcome.is_refusal && resumed)
    return requestInput(call, questionsOf(await pendingInterrupts(call, resumed)), resumed);
  if (outcome.kind === 'failed') return failedResult(outcome.message, run);
  if (outcome.kind === 'values') return valuesResult(tool, run, outcome.values);
  const questions = questionsOf(outcome.interrupts);
  const capabilities = clientCapabilities(ctx);
  if (!capabilities || !canAnswer(questions, capabilities)) return questionResult(tool, run, outcome);
  const { thread_id, run_id } = run;
  const interrupt_ids = outcome.interrupts.map(({ id }) => String(id));
  return requestInput(call, questions, { thread_id, run_id, interrupt_ids, is_own_thread });
}

async function requestInput(
  { codec, ctx }: ToolCall,
  questions: readonly Question[],
  pending: PendingCall,
): Promise<Reply> {
  const inputRequests = Object.fromEntries(questions.map(({ key, request }) => [key, request]));
  return inputRequired({ inputRequests, requestState: await codec.mint(pending, ctx) });
}

/** Returns `undefined` for clients of older revisions, which cannot receive input requests. */
function clientCapabilities({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

function threadIdInMeta({ mcpReq }: ServerContext): string | undefined {
  const thread_id = (mcpReq._meta as Record<string, unknown> | undefined)?.['thread_id'];
  return typeof thread_id === 'string' && thread_id !== '' ? thread_id : undefined;
}

/** State of an interrupted call, signed: the client returns it with its answers. */
export interface PendingCall {
  readonly thread_id: string;
  readonly run_id: string;
  readonly interrupt_ids: readonly string[];
  /** The thread was created for this call and is deleted with its result. */
  readonly is_own_thread: boolean;
}

/** Lifetime of the signed state: any process accepts it from the same caller. */
const PENDING_CALL_TTL_S = 3600;

/** `key`: at least 32 bytes, shared by all processes. */
export function pendingCallCodec(key: string, { principal }: Actor): RequestStateCodec<PendingCall> {
  return createRequestStateCodec<PendingCall>({ key, ttlSeconds: PENDING_CALL_TTL_S, bind: () => principal });
}
