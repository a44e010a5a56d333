/**
 * The run that an attempt resumed: which asked what it answers, or stopped where it goes on. Null if it began with an
 * input, or after its own checkpoint.
 */
export const resumedRuns = `
alter table run_attempts add column resumed_from_run_id {uuid};
`;
