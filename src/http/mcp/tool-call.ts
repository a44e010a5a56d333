import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Actor } from '../../auth/actor.ts';
import { NotFound, ServerError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import type { Run } from '../../schemas/runs.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import type { McpService } from '../../services/mcp/mcp.ts';
import type { ToolOutcome } from '../../services/mcp/tool-calls.ts';
import type { AssistantTool } from '../../services/mcp/tools.ts';
import { argumentProblem } from './arguments.ts';
import { newsSender } from './news.ts';
import { answersTo, canAnswer, type Question, questionsOf } from './questions.ts';
import { failedResult, questionResult, valuesResult } from './results.ts';

/** What a client carries from a question to its answer, signed. */
interface PendingCall {
  readonly thread_id: string;
  readonly run_id: string;
  readonly interrupt_ids: readonly string[];
  /** The thread was made for this call and goes with its result. */
  readonly is_own_thread: boolean;
}

/** Who calls, and how far the call reaches. */
export interface Caller {
  readonly actor: Actor;
  /** The only assistant that is a tool; all that the caller may see without it. */
  readonly assistant_id: string | undefined;
  readonly thread: string | undefined;
}

export interface ToolCallParts {
  readonly mcp: McpService;
  readonly logger: Logger;
  /** Whether a run stops when its caller goes away. */
  readonly cancel_on_disconnect: boolean;
}

/** A question may be answered for an hour, by whoever asked, on any process. */
const ANSWER_WITHIN_S = 3600;

export function pendingCalls(key: string, { actor }: Caller): RequestStateCodec<PendingCall> {
  const owner = actor.user?.identity ?? '';
  return createRequestStateCodec<PendingCall>({ key, ttlSeconds: ANSWER_WITHIN_S, bind: () => owner });
}

type Reply = CallToolResult | InputRequiredResult;

/** Answers `tools/call`: starts a run, or goes on with one whose question is answered, and follows it to its end. */
export function toolCaller(parts: ToolCallParts, caller: Caller, codec: RequestStateCodec<PendingCall>) {
  const { mcp, logger } = parts;
  const { actor } = caller;

  async function begin(
    tool: AssistantTool,
    params: CallToolRequest['params'],
    ctx: ServerContext,
  ): Promise<Reply> {
    const given = isObject(params.arguments) ? params.arguments : {};
    const conversation = threadNamed(ctx) ?? caller.thread;
    const isAnswer = conversation !== undefined && 'resume' in given;
    const problem = isAnswer ? undefined : argumentProblem(tool.schemas, given);
    if (problem !== undefined) return failedResult(problem);
    const { context } = params as { context?: unknown };
    const run = await mcp.start(actor, tool, {
      arguments: given,
      context: isObject(context) ? context : undefined,
      conversation,
    });
    return conclude(tool, run, { is_own_thread: conversation === undefined }, ctx);
  }

  async function goOn(tool: AssistantTool, pending: PendingCall, ctx: ServerContext): Promise<Reply> {
    const interrupts = await waiting(pending);
    const questions = questionsOf(interrupts);
    const answers = answersTo(questions, ctx.mcpReq.inputResponses);
    if (!answers) return ask(questions, pending, ctx);
    const run = await mcp.resume(actor, tool, { thread_id: pending.thread_id, answers });
    return conclude(tool, run, pending, ctx);
  }

  async function waiting({ thread_id, interrupt_ids }: PendingCall): Promise<Interrupt[]> {
    const interrupts = await mcp.interrupts(actor, thread_id).catch((error: unknown) => {
      if (error instanceof NotFound) return [];
      throw error;
    });
    const asked = interrupts.filter(({ id }) => interrupt_ids.includes(String(id)));
    if (asked.length > 0) return asked;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'What was asked does not wait for an answer any more.',
    );
  }

  async function ask(
    questions: readonly Question[],
    pending: PendingCall,
    ctx: ServerContext,
  ): Promise<Reply> {
    const inputRequests = Object.fromEntries(questions.map(({ key, request }) => [key, request]));
    return inputRequired({ inputRequests, requestState: await codec.mint(pending, ctx) });
  }

  async function conclude(
    tool: AssistantTool,
    run: Run,
    { is_own_thread }: Pick<PendingCall, 'is_own_thread'>,
    ctx: ServerContext,
  ): Promise<Reply> {
    const outcome = await followed(run, ctx);
    if (outcome.kind === 'interrupted') return interrupted(tool, run, outcome, is_own_thread, ctx);
    if (is_own_thread) await mcp.forget(actor, run.thread_id);
    return outcome.kind === 'failed'
      ? failedResult(outcome.message, run)
      : valuesResult(tool, run, outcome.values);
  }

  async function followed(run: Run, ctx: ServerContext): Promise<ToolOutcome> {
    const { signal } = ctx.mcpReq;
    const outcome = await mcp.outcome(run, newsSender(ctx, logger), signal);
    if (signal.aborted && parts.cancel_on_disconnect) await mcp.abandon(run);
    return outcome;
  }

  async function interrupted(
    tool: AssistantTool,
    run: Run,
    outcome: Extract<ToolOutcome, { kind: 'interrupted' }>,
    is_own_thread: boolean,
    ctx: ServerContext,
  ): Promise<Reply> {
    const questions = questionsOf(outcome.interrupts);
    const capabilities = declared(ctx);
    if (!capabilities || !canAnswer(questions, capabilities)) return questionResult(tool, run, outcome);
    const { thread_id, run_id } = run;
    const interrupt_ids = outcome.interrupts.map(({ id }) => String(id));
    return ask(questions, { thread_id, run_id, interrupt_ids, is_own_thread }, ctx);
  }

  return async (params: CallToolRequest['params'], ctx: ServerContext): Promise<Reply> => {
    const tool = await mcp.find(actor, params.name);
    if (!tool || (caller.assistant_id !== undefined && tool.assistant.assistant_id !== caller.assistant_id)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    }
    const pending = ctx.mcpReq.requestState<PendingCall>();
    try {
      return pending ? await goOn(tool, pending, ctx) : await begin(tool, params, ctx);
    } catch (error) {
      if (error instanceof ServerError) return failedResult(error.message);
      throw error;
    }
  };
}

/** Undefined for clients of the older revisions: here they cannot be asked anything. */
function declared({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

function threadNamed({ mcpReq }: ServerContext): string | undefined {
  const thread_id = (mcpReq._meta as Record<string, unknown> | undefined)?.['thread_id'];
  return typeof thread_id === 'string' && thread_id !== '' ? thread_id : undefined;
}
