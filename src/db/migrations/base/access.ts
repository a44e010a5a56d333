/**
 * `api_keys`: keys created and revoked at runtime; only the digest of a key is stored. `server_secrets`: secrets that the
 * server generates for itself, shared by all of its processes and stable across restarts. `revoked_sessions`: sessions of
 * Studio whose users signed out before they expired.
 */
export const access = `
create table api_keys (
  key_id {uuid} primary key,
  name text not null,
  digest text not null unique,
  scope text not null,
  created_at {timestamp} not null,
  expires_at {timestamp},
  revoked_at {timestamp},
  last_used_at {timestamp}
){strict};

create table server_secrets (
  name text primary key,
  secret text not null,
  created_at {timestamp} not null
){strict};

create table revoked_sessions (
  session_id {uuid} primary key,
  expires_at {timestamp} not null
){strict};
create index revoked_sessions_expired on revoked_sessions (expires_at);
`;
