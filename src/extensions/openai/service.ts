import type { Actor } from '../../auth/actor.ts';
import { BadRequest, undefinedIfNotFound } from '../../core/errors.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { Interrupt, Thread } from '../../schemas/threads.ts';
import {
  interruptText,
  resumeValueOf,
  reviewRequestOf,
} from '../../services/conversation/human-in-the-loop.ts';
import { stateMessages, textOf } from '../../services/conversation/messages.ts';
import type { RunService } from '../../services/runs/runs.ts';
import type { StatelessRunService } from '../../services/runs/stateless-runs.ts';
import { type ThreadService, threadIdFromName } from '../../services/threads/threads.ts';
import { type Answer, streamAnswer } from './answer.ts';
import type { ChatCompletionCreate, ChatMessage } from './schemas.ts';

export interface ChatCompletionDeps {
  readonly runs: RunService;
  readonly statelessRuns: StatelessRunService;
  readonly threads: ThreadService;
}

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
    answer(run: Run, signal: AbortSignal): Answer {
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
