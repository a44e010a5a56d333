/** API keys created and revoked at runtime; only the digest of a key is stored. */
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
