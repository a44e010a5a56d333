import type { Actor } from '../../auth/actor.ts';
import { BadRequest, undefinedIfNotFound } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { Frame } from '../../events/frame.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { Interrupt, RunError, Thread } from '../../schemas/threads.ts';
import {
  interruptText,
  resumeValueOf,
  reviewRequestOf,
} from '../../services/conversation/human-in-the-loop.ts';
import {
  aiMessagesOfLastTurn,
  isAiMessage,
  isMessage,
  stateMessages,
  textOf,
} from '../../services/conversation/messages.ts';
import { runErrorMessage } from '../../services/runs/run-result.ts';
import type { RunService } from '../../services/runs/runs.ts';
import type { StatelessRunService } from '../../services/runs/stateless-runs.ts';
import { type ThreadService, threadIdFromName } from '../../services/threads/threads.ts';
import type { ChatCompletionCreate, ChatMessage, ChatUsage } from './schemas.ts';

export interface ChatCompletionDeps {
  readonly runs: RunService;
  readonly statelessRuns: StatelessRunService;
  readonly threads: ThreadService;
}

/** Outcome of an answer: token usage, or why the run failed. */
export type ChatOutcome =
  | { readonly usage: ChatUsage }
  /** `is_refusal`: the assistant still waits for another answer. */
  | { readonly failure: string; readonly is_refusal: boolean };

export type ChatCompletionService = ReturnType<typeof chatCompletionService>;

/** Chat completions (OpenAI) over an assistant: messages in, the text of the answer out. */
export function chatCompletionService({ runs, statelessRuns, threads }: ChatCompletionDeps) {
  return {
    /**
     * Starts the answering run. `conversation` names a persistent thread; without it the run is stateless. On an
     * interrupted thread the last message is the resume value; otherwise the thread takes only new messages.
     */
    async start(actor: Actor, request: ChatCompletionCreate, conversation: string | undefined): Promise<Run> {
      const base: RunCreate = {
        assistant_id: request.model,
        stream_mode: ['messages-tuple', 'values'],
        metadata: request.metadata ?? {},
      };
      if (conversation === undefined) {
        const input = { messages: request.messages.map(graphMessage) };
        return statelessRuns.create(actor, { ...base, input }, 'stream');
      }
      const thread_id = threadIdFromName(actor, conversation);
      const thread = await threads.get(actor, thread_id).catch(undefinedIfNotFound);
      const turn = nextRunInput(thread, request.messages);
      return runs.create(actor, thread_id, { ...base, ...turn, if_not_exists: 'create' }, 'stream');
    },

    /** Streams the answer's text in chunks. */
    answer(run: Run, signal: AbortSignal): AsyncGenerator<string, ChatOutcome> {
      return streamAnswer(runs.follow(run, signal));
    },
  };
}

/** Clients resend the whole conversation; an existing thread takes only what follows the last answer. */
function nextRunInput(thread: Thread | undefined, messages: readonly ChatMessage[]): Partial<RunCreate> {
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  const newMessages = messages
    .slice(lastAnswer + 1)
    .filter(({ role }) => role !== 'system' && role !== 'developer');
  if (thread?.status === 'interrupted') {
    const last = newMessages.at(-1);
    if (!last) throw new BadRequest('The assistant waits for an answer: send it as the last message.');
    const interrupts = Object.values(thread.interrupts ?? {}).flat();
    const { id, value } = interrupts.length === 1 ? (interrupts[0] as Interrupt) : {};
    if (reviewRequestOf(value)) requireQuestionInMessages(interruptText(value), messages);
    const answer = resumeValueOf(value, textOf(last.content));
    // Another client may answer first.
    return id
      ? { command: { resume: { [id]: answer } }, strict_resume: true }
      : { command: { resume: answer } };
  }
  const isNew = stateMessages(thread?.values).length === 0;
  return { input: { messages: (isNew ? messages : newMessages).map(graphMessage) } };
}

/**
 * Clients retry requests. On a retry, the message that led to a review must not approve it: the conversation must
 * contain the question before its answer.
 */
function requireQuestionInMessages(question: string, messages: readonly ChatMessage[]): void {
  const lastAssistantMessage = messages.findLast(({ role }) => role === 'assistant');
  if (lastAssistantMessage && textOf(lastAssistantMessage.content).includes(question)) return;
  throw new BadRequest(
    `The assistant waits for a decision. Send the conversation with its question, followed by the answer:\n\n${question}`,
  );
}

/** LangChain uses the same roles and fields; other fields of the message are for models, not for graphs. */
function graphMessage({ role, content, name, tool_call_id, tool_calls }: ChatMessage) {
  return { role, content: content ?? '', name, tool_call_id, tool_calls };
}

const NO_USAGE: ChatUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

async function* streamAnswer(frames: AsyncIterable<Frame>): AsyncGenerator<string, ChatOutcome> {
  let values: unknown;
  let lastMessageId: unknown;
  let hasText = false;
  let failed: ChatOutcome | undefined;
  for await (const { event, data } of frames) {
    if (event === 'error') {
      const error = JSON.parse(data) as RunError;
      failed = { failure: runErrorMessage(error), is_refusal: error.reason !== undefined };
    }
    if (event === 'values') values = JSON.parse(data);
    if (event !== 'messages') continue;
    const [message] = JSON.parse(data) as unknown[];
    if (!isMessage(message) || !isAiMessage(message)) continue;
    const text = textOf(message.content);
    if (text === '') continue;
    // Each message of an answer is a paragraph.
    yield hasText && message['id'] !== lastMessageId ? `\n\n${text}` : text;
    lastMessageId = message['id'];
    hasText = true;
  }
  // Only at the end of the run does its thread have its final status.
  if (failed) return failed;
  const rest = [
    ...(hasText ? [] : aiMessagesOfLastTurn(values).map(({ content }) => textOf(content))),
    ...interruptTexts(values),
  ];
  const text = rest.filter((part) => part !== '').join('\n\n');
  if (text !== '') yield hasText ? `\n\n${text}` : text;
  return { usage: usageOf(values) };
}

function interruptTexts(values: unknown): string[] {
  const interrupts = isObject(values) ? values['__interrupt__'] : undefined;
  if (!Array.isArray(interrupts)) return [];
  return interrupts.map((interrupt) => interruptText(isObject(interrupt) ? interrupt['value'] : interrupt));
}

/** Sum over the answering models that report usage. */
function usageOf(values: unknown): ChatUsage {
  return aiMessagesOfLastTurn(values).reduce((sum, { usage_metadata: usage }) => {
    if (!isObject(usage)) return sum;
    return {
      prompt_tokens: sum.prompt_tokens + count(usage['input_tokens']),
      completion_tokens: sum.completion_tokens + count(usage['output_tokens']),
      total_tokens: sum.total_tokens + count(usage['total_tokens']),
    };
  }, NO_USAGE);
}

function count(tokens: unknown): number {
  return typeof tokens === 'number' ? tokens : 0;
}
