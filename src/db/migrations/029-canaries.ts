/**
 * A revision may take a share of what is new beside the active one. `canary_percent`: the share that it was deployed with.
 * `threads.revision_id`: the canary that the thread began with. `run_queue.revision_id`: the canary that executes the run.
 * Both are without effect once it is no canary any more, so that nothing need change then.
 */
export const canaries = `
alter table deployments add column canary_revision_id {uuid};
alter table deployment_revisions add column canary_percent integer;
alter table threads add column revision_id {uuid};
alter table run_queue add column revision_id {uuid};
`;
