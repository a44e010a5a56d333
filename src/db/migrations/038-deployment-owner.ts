/** The process that builds and serves the deployments: one row, whose fencing token changes with each owner. */
export const deploymentOwner = `
create table deployment_owner (
  id integer primary key check (id = 1),
  token {uuid} not null
){strict};
`;
