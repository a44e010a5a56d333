import { isObject } from '../../core/json.ts';
import { withContents } from '../../graphs/steps/content-marks.ts';
import { type FailureReader, visibleCauses } from '../../graphs/steps/step-failure.ts';
import { StepFailure, type StepInputOutput } from '../../schemas/step-contents.ts';
import type { PreviousCall, StoredContents } from '../../storage/runs/read-contents.ts';

/** What a step was given and returned, as clients see it. */
export function inputOutput(
  { shared, own, previous }: StoredContents,
  reader: FailureReader,
): StepInputOutput {
  const { messages, tools, answer, failure, repeats = [] } = shared;
  const parsed = own === undefined ? undefined : readValue(own);
  const { parameters = null, input = null, output = null } = isObject(parsed) ? parsed : { output: parsed };
  const causes = StepFailure.safeParse(failure?.[0] === undefined ? undefined : readValue(failure[0])).data;
  return {
    messages: messages?.map(readValue) ?? null,
    repeated: previous?.repeated ?? null,
    previous: previous ? previousOf(previous) : null,
    tools: tools?.[0] === undefined ? null : readValue(tools[0]),
    parameters,
    answer: answer?.map(readValue) ?? null,
    input,
    output: repeats.length === 0 ? output : withContents(output, repeats.map(readValue)),
    failure: causes ? visibleCauses(causes, reader) : null,
  };
}

function previousOf({ run_id, attempt, number, messages, has_same_tools }: PreviousCall) {
  return { run_id, step_id: `${attempt}.${number}`, messages, has_same_tools };
}

/** The text itself if it is no JSON any more: a mask may have changed it anywhere. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
