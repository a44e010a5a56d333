import { group, text, word } from '../values.ts';

export const Storage = group({
  url: text()
    .regex(/^(sqlite:.|postgres(ql)?:\/\/.)/, 'must begin with sqlite: or postgres://')
    .refine(
      isAddress,
      'is not a valid URL: percent-encode special characters of the password, such as %40 for @',
    )
    .default('sqlite:.agent-server/server.db')
    .describe('The database: `sqlite:` and a file, or `postgres://…`.'),
  folder: text()
    .optional()
    .describe(
      'Folder that the path of a SQLite file is relative to. Unset: the folder of the configuration.',
    ),
  synchronous: word(['full', 'normal'])
    .default('full')
    .describe(
      'SQLite. `full`: acknowledged writes survive a power failure; `normal`: only a crash of the process.',
    ),
});

/** What the PostgreSQL client would fail to read, with a stack and the address in it. */
function isAddress(url: string): boolean {
  if (url.startsWith('sqlite:')) return true;
  const address = URL.parse(url);
  if (!address) return false;
  try {
    return [address.username, address.password, address.pathname].map(decodeURIComponent).length > 0;
  } catch {
    return false;
  }
}
