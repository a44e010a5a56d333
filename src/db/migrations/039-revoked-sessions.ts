/** Sessions of Studio that were signed out of before they expire. */
export const revokedSessions = `
create table revoked_sessions (
  session_id {uuid} primary key,
  expires_at {timestamp} not null
);
create index revoked_sessions_expired on revoked_sessions (expires_at);
`;
