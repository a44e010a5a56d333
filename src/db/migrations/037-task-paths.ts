/** Where in its graph the task is that wrote; '' for writes without a task, and if LangGraph or the server did not know it. */
export const taskPaths = `
alter table checkpoint_writes add column task_path text not null default '';
`;
