import { flag, group, number, word } from '../values.ts';

export const Crons = group({
  enabled: flag()
    .default(true)
    .describe('Whether this server makes the runs of crons. Of several on a database, one makes each run.'),
  missed: word(['fire_once', 'skip'])
    .default('fire_once')
    .describe('What becomes of times that came while no server ran: one run for all of them, or none.'),
  history_days: number(0, 36_500, 'days')
    .default(30)
    .describe('How long it can be read what the times of a cron came to.'),
});
