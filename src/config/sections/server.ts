import { bytes, group, list, text, whole } from '../values.ts';

export const Server = group({
  host: text().default('127.0.0.1').describe('Address to listen on.'),
  port: whole(0, 65_535).default(8123).describe('Port to listen on; 0 takes a free one.'),
  api_keys: list()
    .default([])
    .describe(
      'Keys accepted in `X-Api-Key` or as bearer tokens. Without one, and without `auth`, only this machine is served.',
    ),
  allowed_hosts: list()
    .default([])
    .describe(
      'Names that a server without keys may be called by, such as that of a proxy before it. `localhost` and loopback addresses always.',
    ),
  body_limit: bytes()
    .default(16 * 1024 ** 2)
    .describe('Largest request body, in bytes or like `16mb`; a larger one is answered with 413.'),
});
