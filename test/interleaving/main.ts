import { parseArgs } from 'node:util';
import { closeAll } from '../../src/core/lifecycle.ts';
import { openEngines } from './engines.ts';
import { explore, told } from './explore.ts';
import { MECHANISMS } from './mechanisms.ts';

/**
 * `npm run interleavings -- --engine sqlite|postgres [--runs N] [--seed N] [--without MECHANISM]`: plays random
 * interleavings of all verbs of the queue, and fails with the steps of a small one that goes wrong, which `--seed` and
 * `--path` play again. `--mechanisms` switches off one mechanism of the queue after the other, and fails when that goes
 * unnoticed. PostgreSQL is the server at `TEST_POSTGRES_URI`.
 */
const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    runs: { type: 'string' },
    seed: { type: 'string', default: '1' },
    path: { type: 'string' },
    without: { type: 'string' },
    mechanisms: { type: 'boolean', default: false },
  },
});
if (values.engine !== 'sqlite' && values.engine !== 'postgres') throw new Error(`no engine ${values.engine}`);
if (values.without !== undefined && !(values.without in MECHANISMS)) {
  throw new Error(`no mechanism ${values.without}; there are ${Object.keys(MECHANISMS).join(', ')}`);
}
const dialect = values.engine;
const seed = Number(values.seed);
const PARALLEL = { sqlite: 1, postgres: 4 };
/** Within which a mechanism that is missing must be noticed. */
const NOTICED_WITHIN = 1000;

const engines = await openEngines(dialect, values.path === undefined ? PARALLEL[dialect] : 1);
try {
  process.exitCode = (values.mechanisms ? await missAll() : await playAll()) ? 0 : 1;
} finally {
  await closeAll(engines.map((engine) => () => engine[Symbol.asyncDispose]()));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function playAll(): Promise<boolean> {
  const begun = performance.now();
  const rate = (played: number) => ((played * 1000) / (performance.now() - begun)).toFixed(1);
  const { played, failure, ...stats } = await explore({
    engines,
    runs: Number(values.runs ?? 10_000),
    seed,
    path: values.path,
    without: MECHANISMS[values.without ?? ''],
    shrink_ms: 30_000,
    onPlayed: (count) => count % 500 === 0 && say(`${count} played, ${rate(count)}/s`),
  });
  if (failure) say(told(failure, dialect));
  const { steps, commits, deadlocks } = stats;
  say(`${played} interleavings on ${dialect} from seed ${seed}, ${rate(played)}/s`);
  say(`${steps} steps, ${commits} commits, ${deadlocks} deadlocks`);
  return failure === undefined;
}

async function missAll(): Promise<boolean> {
  let all = true;
  for (const [name, without] of Object.entries(MECHANISMS)) {
    if (!without.engines.includes(dialect)) continue;
    const { played, failure } = await explore({
      engines,
      runs: Number(values.runs ?? NOTICED_WITHIN),
      seed,
      without,
      shrink_ms: 0,
    });
    const what = failure ? String(failure.error).split('\n')[0] : 'NOT NOTICED';
    say(`${name.padEnd(22)} ${String(played).padStart(5)}  ${what}`);
    all &&= failure !== undefined;
  }
  return all;
}
