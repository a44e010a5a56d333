/**
 * Finds tasks by whichever states the caller names. The partial index before spelled two of them out, and a planner can
 * use such an index only for a statement that does the same.
 */
export const a2aTaskStates = `
drop index a2a_tasks_waiting;
create index a2a_tasks_state on a2a_tasks (state, run_id);
`;
