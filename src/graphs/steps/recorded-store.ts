import { tryOrUndefined } from '../../core/failure.ts';
import type { StepContents } from '../../schemas/steps.ts';
import { contentsOf, toolValueOf } from './contents.ts';
import { NO_TOKENS, type OpenStep, placeOf, type StepRecorder } from './recorder.ts';

/** Calls of LangGraph's `BaseStore` that are recorded, with the names of what they are given. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  get: ['namespace', 'key'],
  search: ['namespace', 'options'],
  put: ['namespace', 'key', 'value'],
  delete: ['namespace', 'key'],
};

/**
 * Steps of a node for each kind of call. What follows directly after the last of them is part of it: a read of the store
 * costs 0.1 ms of CPU, a stored step 0.02 ms (`bench/steps`).
 */
const MAX_STEPS_OF_KIND = 16;

/**
 * The long-term store for the code of a node, whose calls the recorder records. Calls of one kind at the same time are one
 * step, as LangGraph makes them together: else the steps of many would cost a fifth of the calls. `metadata`: of the node.
 */
export function recordedStore(store: object, recorder: StepRecorder, metadata: unknown): object {
  const recorded = new Map<string, (...given: unknown[]) => Promise<unknown>>();
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || name === 'constructor') return value;
      // Called on the original: it may have private fields.
      if (typeof name !== 'string' || !Object.hasOwn(CALLS, name)) return value.bind(target);
      const known = recorded.get(name);
      if (known) return known;
      const ofKind = new CallsOfKind(name, recorder, metadata);
      const call = (...given: unknown[]) => ofKind.record(given, () => value.apply(target, given));
      recorded.set(name, call);
      return call;
    },
  });
}

class CallsOfKind {
  readonly #name: string;
  readonly #recorder: StepRecorder;
  readonly #metadata: unknown;
  #running = 0;
  #steps = 0;
  #step: OpenStep | undefined;
  /** Contents of the first call. */
  #contents: StepContents | undefined;
  #failure: { readonly thrown: unknown } | undefined;

  constructor(name: string, recorder: StepRecorder, metadata: unknown) {
    this.#name = name;
    this.#recorder = recorder;
    this.#metadata = metadata;
  }

  async record(given: readonly unknown[], act: () => Promise<unknown>): Promise<unknown> {
    const isFirst = this.#running === 0;
    if (isFirst) this.#begin();
    this.#running += 1;
    let result: unknown;
    try {
      result = await act();
      return result;
    } catch (thrown) {
      this.#failure ??= { thrown };
      throw thrown;
    } finally {
      if (isFirst) this.#addContents(given, result);
      this.#running -= 1;
      if (this.#running === 0) this.#end();
    }
  }

  #begin(): void {
    if (
      this.#steps >= MAX_STEPS_OF_KIND &&
      !this.#recorder.has_contents &&
      !this.#recorder.keeps_contents &&
      this.#recorder.continue(this.#step)
    )
      return;
    this.#steps += 1;
    const called = { kind: 'store', name: this.#name, model: null, provider: null } as const;
    this.#step = this.#recorder.begin({ ...called, place: placeOf(this.#metadata) });
    this.#contents = this.#failure = undefined;
  }

  #end(): void {
    if (this.#failure) this.#recorder.fail(this.#step, this.#failure.thrown, this.#contents);
    else this.#recorder.succeed(this.#step, NO_TOKENS, this.#contents);
  }

  #addContents(given: readonly unknown[], result: unknown): void {
    if (!this.#step) return;
    const names = CALLS[this.#name] ?? [];
    const call = Object.fromEntries(names.map((name, i) => [name, given[i]]));
    this.#recorder.keep(this.#step, (keeper) => keeper.input(call));
    this.#recorder.keep(this.#step, (keeper) => keeper.output(result));
    if (!this.#recorder.has_contents) return;
    this.#contents = contentsOf(
      tryOrUndefined(() => toolValueOf(call)),
      tryOrUndefined(() => toolValueOf(result)),
    );
  }
}
