/** Keys that the server made for itself; the same for all of its processes, and after a restart. */
export const serverSecrets = `
create table server_secrets (
  name text primary key,
  secret text not null,
  created_at {timestamp} not null
){strict};
`;
