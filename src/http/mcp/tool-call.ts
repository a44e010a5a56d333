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
import type { Actor } from '../../auth/actor.ts';
import { ServerError, undefinedIfNotFound } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import type { Run } from '../../schemas/runs.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import type { McpService } from '../../services/mcp/mcp.ts';
import type { AssistantTool } from '../../services/mcp/tools.ts';
import { invalidArguments } from './arguments.ts';
import { answersTo, canAnswer, type Question, questionsOf } from './elicitation.ts';
import { progressNotifier } from './progress.ts';
import { failedResult, questionResult, valuesResult } from './results.ts';

/** Who calls, and how far the call reaches. */
export interface Caller {
  readonly actor: Actor;
  /** The only assistant that is a tool; all that the caller may see without it. */
  readonly assistant_id: string | undefined;
  /** The tool that is called; undefined when none is. */
  readonly tool_name: string | undefined;
  /** Names the memory where the call itself does not. */
  readonly thread: string | undefined;
  /** Set where a call may be cancelled by something else than the end of its connection. */
  readonly openCall?: (() => Cancellable) | undefined;
}

/** A call that is under way until it is disposed of. */
export interface Cancellable extends Disposable {
  readonly signal: AbortSignal;
}

export interface ToolCallDeps {
  readonly mcp: McpService;
  readonly logger: Logger;
  /** Whether a run stops when its caller goes away. */
  readonly cancel_on_disconnect: boolean;
}

/** One call of one tool. */
interface ToolCall extends ToolCallDeps, Caller {
  readonly codec: RequestStateCodec<PendingCall>;
  readonly tool: AssistantTool;
  readonly ctx: ServerContext;
  /** The client does not want the result any more. */
  readonly signal: AbortSignal;
}

type Params = CallToolRequest['params'];
type Reply = CallToolResult | InputRequiredResult;

/** Answers `tools/call`: starts a run, or goes on with one whose question is answered, and follows it to its end. */
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
  const signal = cancellable ? AbortSignal.any([connection, cancellable.signal]) : connection;
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
  const { mcp, actor, tool, ctx } = call;
  const { thread_id, is_own_thread } = pending;
  const questions = questionsOf(await pendingInterrupts(call, pending));
  const answers = answersTo(questions, ctx.mcpReq.inputResponses);
  if (!answers) return requestInput(call, questions, pending);
  const run = await mcp.resume(actor, tool, { thread_id, answers });
  const reply = await awaitOutcome(call, run, is_own_thread);
  // Only the thread of a first run goes by itself.
  if (is_own_thread && !isInputRequiredResult(reply)) await mcp.deleteThread(actor, thread_id);
  return reply;
}

/** What was asked and still waits. */
async function pendingInterrupts(
  { mcp, actor }: ToolCall,
  { thread_id, interrupt_ids }: PendingCall,
): Promise<Interrupt[]> {
  const interrupts = (await mcp.interrupts(actor, thread_id).catch(undefinedIfNotFound)) ?? [];
  const asked = interrupts.filter(({ id }) => interrupt_ids.includes(String(id)));
  if (asked.length > 0) return asked;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'This question no longer waits for an answer.');
}

async function awaitOutcome(call: ToolCall, run: Run, is_own_thread: boolean): Promise<Reply> {
  const { mcp, logger, tool, ctx, signal } = call;
  const outcome = await mcp.outcome(run, progressNotifier(ctx, logger), signal);
  if (signal.aborted && call.cancel_on_disconnect) {
    await mcp.abandon(run);
    return failedResult('The call was cancelled.', run);
  }
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

/** Undefined for clients of the older revisions: here they cannot be asked anything. */
function clientCapabilities({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

function threadIdInMeta({ mcpReq }: ServerContext): string | undefined {
  const thread_id = (mcpReq._meta as Record<string, unknown> | undefined)?.['thread_id'];
  return typeof thread_id === 'string' && thread_id !== '' ? thread_id : undefined;
}

/** What a client carries from a question to its answer, signed. */
export interface PendingCall {
  readonly thread_id: string;
  readonly run_id: string;
  readonly interrupt_ids: readonly string[];
  /** The thread was made for this call and goes with its result. */
  readonly is_own_thread: boolean;
}

/** A question may be answered for an hour, on any process, by whoever was asked. */
const PENDING_CALL_TTL_S = 3600;

/** `key`: at least 32 bytes, the same on every process. */
export function pendingCallCodec(key: string, { user }: Actor): RequestStateCodec<PendingCall> {
  const owner = user?.identity ?? '';
  return createRequestStateCodec<PendingCall>({ key, ttlSeconds: PENDING_CALL_TTL_S, bind: () => owner });
}
