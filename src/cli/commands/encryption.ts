import { applyEnvironment } from '../../config/env.ts';
import { CONFIG_FLAG, type Command } from '../command.ts';
import { loadFor } from '../configured.ts';

export const rotateEncryption: Command = {
  name: 'encryption rotate',
  summary:
    'Encrypts what is stored with the current key: what has another one, and what has none; servers may run meanwhile',
  flags: {
    ...CONFIG_FLAG,
    all: { text: 'also what has the current key already, for encryption of your own (encryption.path)' },
  },
  async run(values) {
    const { config } = await loadFor(values);
    applyEnvironment(config.env);
    const { openSealer } = await import('../../app/encryption.ts');
    const sealer = await openSealer(config);
    if (!sealer) {
      process.stderr.write('agent-server: nothing is encrypted: set LANGGRAPH_AES_KEY, or encryption.path\n');
      return 2;
    }
    const { openEncryption } = await import('../../storage/storage.ts');
    await using encryption = await openEncryption({ url: config.storage.url, sealer });
    const { rows, unreadable } = await encryption.rotate({
      everything: values['all'] !== undefined,
      onTable: (table, count) => process.stdout.write(`${table}: ${count}\n`),
    });
    const told =
      rows > 0 ? `${rows} rows were encrypted with the current key` : 'nothing was left to encrypt';
    process.stdout.write(`${told}\n`);
    for (const line of unreadable) process.stderr.write(`agent-server: ${line}\n`);
    return unreadable.length === 0 ? 0 : 1;
  },
};
