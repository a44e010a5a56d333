/** Secrets that the server generates for itself; shared by all of its processes, and stable across restarts. */
export const serverSecrets = `
create table server_secrets (
  name text primary key,
  secret text not null,
  created_at {timestamp} not null
){strict};
`;
