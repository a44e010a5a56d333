import { isObject } from '../../core/json.ts';
import { importUserModule } from '../project/user-module.ts';

/** LangChain's storage of the configuration that code finds which is given none; its store is LangSmith's run. */
interface ContextProvider {
  getInstance(): { getStore(): unknown; run<T>(store: unknown, act: () => T): T };
  runWithConfig<T>(config: unknown, act: () => T, withoutRun?: boolean): T;
}

/** Where the store holds that configuration. */
const CHILD_CONFIG = Symbol.for('lc:child_config');
/** Where it holds the variables of `setContextVariable`. */
const CONTEXT_VARIABLES = Symbol.for('lc:context_variables');

const patched = new WeakSet<ContextProvider>();

/**
 * Spares the runs of the project's LangChain what only traces need: for each of its steps it makes a run of LangSmith,
 * with random ids and times, and a callback manager to find a tracer, an eighth of the CPU of a graph that computes
 * little. Code that is not traced gets a copy of one such run instead, with its configuration. Changes nothing for a
 * copy of LangChain that is built differently, nor where something is traced, now or later.
 */
export async function skipUnusedRuns(folder: string, isTracingEnabled: () => boolean): Promise<void> {
  const provider = await importUserModule<{ AsyncLocalStorageProviderSingleton?: ContextProvider }>(
    folder,
    '@langchain/core/singletons',
  ).then(
    ({ AsyncLocalStorageProviderSingleton }) => AsyncLocalStorageProviderSingleton,
    // A project without LangChain has nothing to spare.
    () => undefined,
  );
  if (!provider || patched.has(provider)) return;
  const original = provider.runWithConfig.bind(provider);
  const untraced = untracedRun(provider);
  if (!untraced) return;
  patched.add(provider);
  const isTraced = askedOncePerTurn(isTracingEnabled);

  provider.runWithConfig = (config, act, withoutRun) => {
    const storage = provider.getInstance();
    const outer = storage.getStore();
    // Within code that is not traced nothing is, whatever the environment contains by then: so the library has it too.
    const isUntraced = outer === undefined ? !isTraced() : isCopyOf(outer, untraced);
    if (!isUntraced || hasTracer(config)) return original(config, act, withoutRun);
    // A stream asks for none with each of its tokens: the library makes a callback manager for it all the same.
    return storage.run(withoutRun ? undefined : copyOf(untraced, config), act);
  };
}

/** Cached per turn of the event loop: reading environment variables takes longer than everything else. */
function askedOncePerTurn(ask: () => boolean): () => boolean {
  let answer: boolean | undefined;
  return () => {
    if (answer === undefined) setImmediate(() => (answer = undefined));
    answer ??= ask();
    return answer;
  };
}

interface UntracedRun {
  readonly id: unknown;
  readonly trace_id: unknown;
  readonly dotted_order: unknown;
  readonly extra: Record<string | symbol, unknown>;
}

/** What the library puts into its storage for code that is not traced; `undefined` if that is not what we know. */
function untracedRun(provider: ContextProvider): UntracedRun | undefined {
  const config = {};
  const run = provider.runWithConfig(config, () => provider.getInstance().getStore());
  if (!isObject(run) || run['tracingEnabled'] !== false || !isObject(run['extra'])) return undefined;
  const { [CHILD_CONFIG]: child, ...extra } = run['extra'] as UntracedRun['extra'];
  const isKnown = child === config && !(CONTEXT_VARIABLES in run) && Array.isArray(run['child_runs']);
  return isKnown ? (Object.assign(run, { extra }) as object as UntracedRun) : undefined;
}

/**
 * Inherits what nothing changes: 30 times faster than copying it. Own is what the library changes, and what it copies
 * from a run to others.
 */
function copyOf(run: UntracedRun, config: unknown): object {
  const { id, trace_id, dotted_order } = run;
  const extra = { ...run.extra, [CHILD_CONFIG]: config };
  return Object.assign(Object.create(run), {
    id,
    trace_id,
    dotted_order,
    tracingEnabled: false,
    child_runs: [],
    extra,
  });
}

function isCopyOf(store: unknown, run: UntracedRun): boolean {
  return isObject(store) && Object.getPrototypeOf(store) === run;
}

/** A list of handlers, or a manager of them. */
function hasTracer(config: unknown): boolean {
  const callbacks = isObject(config) ? config['callbacks'] : undefined;
  if (callbacks === undefined || callbacks === null) return false;
  const handlers = isObject(callbacks) ? callbacks['handlers'] : callbacks;
  return (
    !Array.isArray(handlers) || handlers.some((each) => isObject(each) && each['name'] === 'langchain_tracer')
  );
}
