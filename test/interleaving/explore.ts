import fc from 'fast-check';
import { type Script, script } from './commands.ts';
import type { Engine } from './engines.ts';
import { play, Violation } from './interleaving.ts';
import type { Mechanism } from './mechanisms.ts';
import type { Stats } from './world.ts';

export interface Exploration {
  /** Each plays its share, all at once: they wait for the database most of the time. */
  readonly engines: readonly Engine[];
  /** Interleavings on all of them. */
  readonly runs: number;
  /** Of the first engine; each has the next. */
  readonly seed: number;
  /** Of one interleaving alone, as a failure names it. */
  readonly path?: string | undefined;
  readonly without?: Mechanism | undefined;
  /** How long a failure is made smaller, ms. */
  readonly shrink_ms: number;
  /** What follows of an interleaving that went well. */
  readonly onPlayed?: (played: number) => void;
}

export interface Explored extends Stats {
  /** Until the failure, with it. */
  readonly played: number;
  readonly failure: Failure | undefined;
}

export interface Failure {
  readonly seed: number;
  readonly path: string;
  /** The smallest that was found. */
  readonly script: Script;
  readonly error: unknown;
}

/** Plays random interleavings until one fails, which is then made smaller. */
export async function explore(exploration: Exploration): Promise<Explored> {
  const { engines, runs, seed } = exploration;
  const all: Stats = { steps: 0, commits: 0, deadlocks: 0, played: 0, failed: false };
  const share = Math.ceil(runs / engines.length);
  const failures = await Promise.all(
    engines.map((engine, index) => exploreOne(exploration, engine, seed + index, share, all)),
  );
  return { ...all, failure: failures.find((failure) => failure !== undefined) };
}

async function exploreOne(
  { path, without, shrink_ms, onPlayed }: Exploration,
  engine: Engine,
  seed: number,
  runs: number,
  all: Stats,
): Promise<Failure | undefined> {
  let until = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(script, async (played) => {
    const isFirst = until === Number.POSITIVE_INFINITY;
    // What is not played any more counts as harmless, so that everybody comes to an end.
    if (isFirst ? all.failed : performance.now() > until) return;
    if (isFirst) all.played += 1;
    try {
      await play({ engine, without, stats: isFirst ? all : { ...all } }, played);
      if (isFirst) onPlayed?.(all.played);
    } catch (error) {
      if (isFirst) until = performance.now() + shrink_ms;
      all.failed = true;
      throw error;
    }
  });
  const details = await fc.check(property, { numRuns: runs, seed, ...(path && { path }), verbose: 0 });
  const { failed, counterexample, counterexamplePath, errorInstance: error } = details;
  if (!failed || !counterexample) return undefined;
  return { seed, path: counterexamplePath as string, script: counterexample[0], error };
}

/** What is wrong, and how it came to that. */
export function told({ seed, path, script: { commands }, error }: Failure, engine: string): string {
  const { name, stack } = error instanceof Error ? error : new Error(String(error));
  const trace = error instanceof Violation ? error.trace : [];
  return [
    `${name} on ${engine}. Play it again: npm run interleavings -- --engine ${engine} --seed ${seed} --path ${path}`,
    error instanceof Violation ? error.message : `${stack} ${error instanceof Error ? error.cause : ''}`,
    'Commands:',
    ...commands.map((command) => `  ${JSON.stringify(command)}`),
    'Steps:',
    ...trace.map((step, index) => `${String(index).padStart(4)} ${step}`),
  ].join('\n');
}
