import { applyEnvironment } from '../../config/env.ts';
import { CONFIG_FLAG, type Command } from '../command.ts';
import { loadConfigFor } from '../config.ts';

export const rotateEncryption: Command = {
  name: 'encryption rotate',
  summary: 'Re-encrypts stored data with the current key; servers can keep running',
  flags: {
    ...CONFIG_FLAG,
    all: { text: 'also data that already has the current key, for your own encryption (encryption.path)' },
  },
  async run(values) {
    const { config } = await loadConfigFor(values);
    applyEnvironment(config.env);
    const { openEncryptor } = await import('../../app/encryption.ts');
    const encryptor = await openEncryptor(config);
    if (!encryptor) {
      process.stderr.write('agent-server: encryption is off: set LANGGRAPH_AES_KEY or encryption.path\n');
      return 2;
    }
    const { openKeyRotation } = await import('../../storage/storage.ts');
    await using encryption = await openKeyRotation({ ...config.storage, encryptor });
    const { rows, unreadable } = await encryption.rotate({
      everything: values['all'] !== undefined,
      onTable: (table, count) => process.stdout.write(`${table}: ${count}\n`),
    });
    const count = rows === 1 ? '1 row' : `${rows} rows`;
    process.stdout.write(
      rows > 0 ? `re-encrypted ${count} with the current key\n` : 'nothing to re-encrypt\n',
    );
    for (const line of unreadable) process.stderr.write(`agent-server: ${line}\n`);
    return unreadable.length === 0 ? 0 : 1;
  },
};
