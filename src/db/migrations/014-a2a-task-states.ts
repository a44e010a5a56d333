/**
 * Finds tasks by any states that the caller names. The previous partial index spelled out two of them, and a planner
 * uses such an index only for a statement that repeats its condition.
 */
export const a2aTaskStates = `
drop index a2a_tasks_waiting;
create index a2a_tasks_state on a2a_tasks (state, run_id);
`;
