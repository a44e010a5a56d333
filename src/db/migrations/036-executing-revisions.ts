/** The revision of a deployment that executed the last attempt of a run; null outside of deployments and of older servers. */
export const executingRevisions = `
alter table runs add column revision_id {uuid};
`;
