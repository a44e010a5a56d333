import { group, text, word } from '../values.ts';

export const Storage = group({
  url: text()
    .regex(/^(sqlite:.|postgres(ql)?:\/\/.)/, 'must begin with sqlite: or postgres://')
    .refine(isAddress, 'is no address: special characters of a password are written as %40 for @, and so on')
    .default('sqlite:.agent-server/server.db')
    .describe('Where everything is kept: `sqlite:` and a file, or `postgres://…`.'),
  folder: text()
    .optional()
    .describe('Where the path of a SQLite file starts. Unset: at the folder of the configuration.'),
  synchronous: word(['full', 'normal'])
    .default('full')
    .describe(
      'SQLite. `full`: what is acknowledged survives a power cut; `normal`: only the death of the process.',
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
