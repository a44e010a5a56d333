/**
 * Scheduled runs. `next_run_date` is null for an inactive cron: paused, ended, or with a missing dependency
 * (`disabled_reason`). `end_time` is the client's text, `ends_at` its instant. `run_as` is the creator.
 * `made_by_cron`: the cron whose run created this one; null for those that clients create.
 */
export const crons = `
create table crons (
  cron_id {uuid} primary key,
  assistant_id {uuid} not null,
  thread_id {uuid},
  schedule text not null,
  timezone text,
  end_time text,
  ends_at {timestamp},
  next_run_date {timestamp},
  enabled integer not null,
  disabled_reason text,
  on_run_completed text,
  metadata {jsonb} not null,
  user_id text not null,
  made_by_cron {uuid},
  run_as {json},
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  payload {json} not null
){strict};
create index crons_of_runs on crons (user_id) where made_by_cron is not null;
create index crons_due on crons (next_run_date) where next_run_date is not null;
create index crons_assistant on crons (assistant_id);
create index crons_created on crons (created_at, cron_id);

-- What each time of a schedule came to, once (invariant 6). tick is null for a run that somebody asked for at another
-- time. The status of the run is kept here too, for a run without a thread is gone when it has ended.
create table cron_fires (
  seq {identity},
  cron_id {uuid} not null references crons on delete cascade,
  tick {timestamp},
  outcome text not null check (outcome in ('started', 'rejected', 'skipped', 'failed')),
  detail text,
  run_id {uuid},
  thread_id {uuid},
  status text,
  fired_at {timestamp} not null,
  unique (cron_id, tick)
){strict};
create index cron_fires_newest on cron_fires (cron_id, seq);
create index cron_fires_run on cron_fires (run_id) where run_id is not null;
create index cron_fires_old on cron_fires (fired_at);
`;
