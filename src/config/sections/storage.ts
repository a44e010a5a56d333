import { group, text, word } from '../values.ts';

export const Storage = group({
  url: text()
    .regex(/^(sqlite:.|postgres(ql)?:\/\/.)/, 'must begin with sqlite: or postgres://')
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
