import { OWNED_DATA, ownedDatabases } from '../../app/extensions.ts';
import { applyEnvironment } from '../../config/env.ts';
import type { openKeyRotation } from '../../storage/storage.ts';
import { CONFIG_FLAG, type Command } from '../command.ts';
import { loadConfigFor } from '../config.ts';

export const rotateEncryption: Command = {
  name: 'encryption rotate',
  summary: 'Re-encrypts stored data with the current key; servers can keep running',
  flags: {
    ...CONFIG_FLAG,
    all: { text: 'also re-encrypts data that has the current key, for custom encryption (encryption.path)' },
  },
  async run(values) {
    const { config } = await loadConfigFor(values);
    applyEnvironment(config);
    const { openEncryptor } = await import('../../app/encryption.ts');
    const encryptor = await openEncryptor(config);
    if (!encryptor) {
      process.stderr.write('agent-server: encryption is off: set LANGGRAPH_AES_KEY or encryption.path\n');
      return 2;
    }
    const everything = values['all'] !== undefined;
    const own = await rotateIn({ ...config.storage, owned: OWNED_DATA, encryptor }, everything);
    let { rows } = own;
    const unreadable = [...own.unreadable];
    for (const { kind, name, url } of await ownedDatabases(config)) {
      const prefix = `${kind} ${name}, `;
      // The server's own database is up to date, so no earlier version can be serving this one.
      const options = { ...config.storage, owned: OWNED_DATA, url, encryptor, contracts: true };
      const rotated = await rotateIn(options, everything, prefix);
      rows += rotated.rows;
      unreadable.push(...rotated.unreadable.map((line) => prefix + line));
    }
    const count = rows === 1 ? '1 row' : `${rows} rows`;
    process.stdout.write(
      rows > 0 ? `re-encrypted ${count} with the current key\n` : 'nothing to re-encrypt\n',
    );
    for (const line of unreadable) process.stderr.write(`agent-server: ${line}\n`);
    return unreadable.length === 0 ? 0 : 1;
  },
};

/** Prints a line for each table, after `prefix`. */
async function rotateIn(options: Parameters<typeof openKeyRotation>[0], everything: boolean, prefix = '') {
  const storage = await import('../../storage/storage.ts');
  await using encryption = await storage.openKeyRotation(options);
  const onTable = (table: string, count: number) => process.stdout.write(`${prefix}${table}: ${count}\n`);
  return await encryption.rotate({ everything, onTable });
}
