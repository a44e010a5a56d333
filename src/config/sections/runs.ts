import { CENTURY_S, MAX_INTEGER } from '../../schemas/numbers.ts';
import { group, whole } from '../values.ts';

export const Runs = group({
  concurrency: whole(0, 10_000, 'runs')
    .default(10)
    .describe('Runs executed at the same time; 0 executes none.'),
  max_attempts: whole(1, 100, 'attempts')
    .default(3)
    .describe('Attempts of a run, including the first, before it ends as `error`.'),
  max_recursion_limit: whole(25, MAX_INTEGER, 'steps')
    .default(10_000)
    .describe(
      'The largest `recursion_limit` that a request or an assistant may set; it ends graphs that loop forever. If none is set, LangGraph stops at 25.',
    ),
  timeout_seconds: whole(1, CENTURY_S, 'seconds')
    .default(86_400)
    .describe('A run that takes longer ends as `timeout`.'),
  shutdown_grace_seconds: whole(0, 3600, 'seconds')
    .default(180)
    .describe('How long running runs may continue after SIGTERM before they return to the queue.'),
  stream_ttl_seconds: whole(0, CENTURY_S, 'seconds')
    .default(86_400)
    .describe('How long the events of a finished run can be replayed.'),
});
