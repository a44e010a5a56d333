/** The import that writes the history of a thread, until it is complete: a random id of the request. */
export const unfinishedImports = `
alter table threads add column import_id {uuid};
`;
