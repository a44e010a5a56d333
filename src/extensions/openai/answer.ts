import { isObject } from '../../core/json.ts';
import type { Frame } from '../../events/frame.ts';
import type { RunError } from '../../schemas/threads.ts';
import { interruptText } from '../../services/conversation/human-in-the-loop.ts';
import {
  aiMessagesOfLastTurn,
  isAiMessage,
  isMessage,
  type StateMessage,
  textOf,
} from '../../services/conversation/messages.ts';
import { runErrorMessage } from '../../services/runs/run-result.ts';
import { AnswerText, type Place } from './answer-text.ts';
import type { ChatUsage } from './schemas.ts';

/** Text for a client that reads the answer as it is generated, then the outcome. */
export type Answer = AsyncGenerator<string, ChatOutcome>;

/** Outcome of an answer: its whole text and token usage, or why the run failed. */
export type ChatOutcome =
  | { readonly text: string; readonly usage: ChatUsage }
  /** `is_refusal`: the assistant still waits for another answer. */
  | { readonly failure: string; readonly is_refusal: boolean };

/** The answer in the events of a run: the AI messages that its models stream, then the questions it asks. */
export async function* streamAnswer(frames: AsyncIterable<Frame>): Answer {
  const answer = new AnswerText();
  let values: unknown;
  let failed: ChatOutcome | undefined;
  for await (const { event, data } of frames) {
    if (event === 'error') {
      const error = JSON.parse(data) as RunError;
      failed = { failure: runErrorMessage(error), is_refusal: error.reason !== undefined };
    } else if (event === 'metadata') answer.retry();
    else if (event === 'values') {
      values = JSON.parse(data);
      // The error only reported lost events, and this state replaces them.
      failed = undefined;
      if (interruptsOf(values).length === 0) answer.stateArrived(aiMessagesOfLastTurn(values));
    } else if (event === 'messages') addMessage(answer, JSON.parse(data) as unknown[]);
    const text = answer.take();
    if (text !== '') yield text;
  }
  // Only at the end of the run does its thread have its final status.
  if (failed) return failed;
  const messages = aiMessagesOfLastTurn(values);
  answer.stateArrived(messages);
  if (answer.text === '') for (const { content } of messages) answer.append(textOf(content));
  for (const interrupt of interruptsOf(values))
    answer.append(interruptText(isObject(interrupt) ? interrupt['value'] : interrupt));
  const rest = answer.take();
  if (rest !== '') yield rest;
  return { text: answer.text, usage: usageOf(messages) };
}

function addMessage(answer: AnswerText, [message, metadata]: unknown[]): void {
  if (!isMessage(message) || !isAiMessage(message)) return;
  const text = textOf(message.content);
  if (text !== '') answer.add({ id: message['id'], text, isWhole: message.type === 'ai' }, placeOf(metadata));
}

function placeOf(metadata: unknown): Place {
  const { langgraph_checkpoint_ns: task, langgraph_step: step } = isObject(metadata) ? metadata : {};
  return { task: typeof task === 'string' ? task : '', step: typeof step === 'number' ? step : 0 };
}

function interruptsOf(values: unknown): unknown[] {
  const interrupts = isObject(values) ? values['__interrupt__'] : undefined;
  return Array.isArray(interrupts) ? interrupts : [];
}

const NO_USAGE: ChatUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Sum over the answering models that report usage. */
function usageOf(messages: readonly StateMessage[]): ChatUsage {
  return messages.reduce((sum, { usage_metadata: usage }) => {
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
