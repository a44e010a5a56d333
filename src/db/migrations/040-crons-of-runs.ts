/** The cron whose run created this one; null for those that clients create. */
export const cronsOfRuns = `
alter table crons add column made_by_cron {uuid};
create index crons_of_runs on crons (user_id) where made_by_cron is not null;
`;
