import { BadRequest, type ServerError } from '../../core/errors.ts';
import { toJson } from '../../core/json.ts';
import type { Frame } from '../../events/frame.ts';
import type { Run } from '../../schemas/runs.ts';
import type { Answer, ChatOutcome } from './answer.ts';
import { openAiError } from './error-body.ts';
import { RunFailed } from './errors.ts';
import type { ChatCompletion, ChatCompletionChunk, ChatUsage } from './schemas.ts';

/** The whole answer as one completion. Throws `RunFailed`. */
export async function completionOf(answer: Answer, run: Run, model: string): Promise<ChatCompletion> {
  for (;;) {
    const step = await answer.next();
    if (!step.done) continue;
    if ('failure' in step.value) throw failureOf(step.value);
    const content = step.value.text;
    return {
      ...head(run, model),
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: step.value.usage,
    };
  }
}

/** Streams the answer as chunks, then `[DONE]`; if the run fails, the last chunk is an error. */
export async function* chunksOf(
  answer: Answer,
  run: Run,
  { model, include_usage }: { model: string; include_usage: boolean },
): AsyncGenerator<Frame> {
  const usage = include_usage ? { usage: null } : {};
  const chunk = (delta: Delta, finish_reason: 'stop' | null): ChatCompletionChunk => ({
    ...head(run, model),
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...usage,
  });
  yield frameOf(chunk({ role: 'assistant', content: '' }, null));
  for (;;) {
    const step = await answer.next();
    if (!step.done) {
      yield frameOf(chunk({ content: step.value }, null));
      continue;
    }
    if ('failure' in step.value) {
      const { status, message } = failureOf(step.value);
      return yield frameOf(openAiError(status, message));
    }
    yield frameOf(chunk({}, 'stop'));
    if (include_usage) yield frameOf(usageChunk(run, model, step.value.usage));
    return yield { seq: 0, event: '', data: '[DONE]' };
  }
}

function failureOf({ failure, is_refusal }: Extract<ChatOutcome, { failure: string }>): ServerError {
  return is_refusal ? new BadRequest(failure) : new RunFailed(failure);
}

type Delta = ChatCompletionChunk['choices'][number]['delta'];

function usageChunk(run: Run, model: string, usage: ChatUsage): ChatCompletionChunk {
  return { ...head(run, model), object: 'chat.completion.chunk', choices: [], usage };
}

function head({ run_id, updated_at }: Run, model: string) {
  return { id: `chatcmpl-${run_id}`, created: Math.floor(Date.parse(updated_at) / 1000), model };
}

export function frameOf(value: object): Frame {
  return { seq: 0, event: '', data: toJson(value) };
}
