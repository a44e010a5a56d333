import { tryOrUndefined } from '../core/failure.ts';
import type { Ids } from '../core/ids.ts';
import { isObject } from '../core/json.ts';
import { after } from '../core/timers.ts';
import type { AttemptNow } from '../storage/runs/active-attempts.ts';
import type { EventBus } from './bus.ts';

/** A run, and its thread. */
interface RunPlace {
  readonly thread_id: string;
  readonly run_id: string;
}

/** What a run does now; `undefined` if that is not known here. */
export type StepsNow = (run: RunPlace) => Promise<AttemptNow | undefined>;

/** How long the process that executes a run may take to answer, ms: its event loop may be blocked, or it has died. */
const ANSWER_MS = 500;
/** The newest steps that an answer names: one names about 400 bytes, and all answers pass through the database. */
const MAX_STEPS = 50;
/** Characters of an answer in one event, which may have 7,900 bytes. */
const PART = 2000;

/**
 * Answers the other processes that ask what a run does that executes in this one. Errors stay here: unlike the rest,
 * they are encrypted where they are stored.
 */
export function answerAboutSteps(bus: EventBus, now: StepsNow): Disposable {
  return bus.on('steps.asked', (question, thread_id, run_id) => void answer(question, { thread_id, run_id }));

  async function answer(question: string, run: RunPlace): Promise<void> {
    const found = await now(run).catch(() => undefined);
    if (!found) return;
    const steps = found.steps.slice(-MAX_STEPS).map((step) => ({ ...step, error: null }));
    const text = JSON.stringify({ ...found, steps });
    const parts = Math.ceil(text.length / PART);
    for (let part = 0; part < parts; part += 1) {
      const chunk = text.slice(part * PART, (part + 1) * PART);
      bus.emit('steps.answered', question, String(part), String(parts), chunk);
    }
  }
}

/**
 * What runs do now, wherever they execute: asks the other processes if it is not this one. Costs executing runs nothing
 * until a request asks. Without notifications between processes, only those of this one are known.
 */
export function currentSteps(bus: EventBus, ids: Ids, here: StepsNow): StepsNow {
  /** One question per run; everyone who waits shares the answer. */
  const asked = new Map<string, Promise<AttemptNow | undefined>>();
  return async (run) => {
    const known = await here(run);
    if (known || bus.poll_rate !== 'rare') return known;
    let answer = asked.get(run.run_id);
    if (!answer) {
      answer = ask(bus, ids.uuid4(), run).finally(() => asked.delete(run.run_id));
      asked.set(run.run_id, answer);
    }
    return answer;
  };
}

async function ask(
  bus: EventBus,
  question: string,
  { thread_id, run_id }: RunPlace,
): Promise<AttemptNow | undefined> {
  const chunks = new Map<string, string>();
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  using _answers = bus.on('steps.answered', (of, part, parts, chunk) => {
    if (of !== question) return;
    chunks.set(part, chunk);
    if (chunks.size === Number(parts)) resolve(joined(chunks));
  });
  using _timer = after(ANSWER_MS, () => resolve(undefined));
  bus.emit('steps.asked', question, thread_id, run_id);
  const text = await promise;
  return text === undefined ? undefined : attemptOf(text);
}

function joined(chunks: ReadonlyMap<string, string>): string {
  return Array.from(chunks, (_, part) => chunks.get(String(part)) ?? '').join('');
}

/** `undefined` for a message of another version of the server. */
function attemptOf(text: string): AttemptNow | undefined {
  const answer: unknown = tryOrUndefined(() => JSON.parse(text));
  if (!isObject(answer) || !Array.isArray(answer['steps'])) return undefined;
  return answer as unknown as AttemptNow;
}
