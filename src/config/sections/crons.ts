import { flag, group, number, word } from '../values.ts';

export const Crons = group({
  enabled: flag()
    .default(true)
    .describe(
      'Whether this process creates the runs of crons. With several on one database, each run is created once.',
    ),
  missed: word(['fire_once', 'skip'])
    .default('fire_once')
    .describe('What happens to times missed while no server ran: one run for all of them, or none.'),
  history_days: number(0, 36_500, 'days').default(30).describe('How long the outcomes of a cron are kept.'),
});
