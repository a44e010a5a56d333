/** Keys that are made and taken back while the server runs; of a key only its digest is kept. */
export const apiKeys = `
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
`;
