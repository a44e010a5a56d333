import type { Extension } from '../extension.ts';

export const operations: Extension = {
  name: 'operations',
  isEnabled: () => true,
  async load() {
    const { quickFindings } = await import('./doctor/quick.ts');
    return ({ storage }) => ({
      async warnings() {
        const findings = await quickFindings(storage.database);
        return findings.map(({ check, level, message }) => ({ check, level, message }));
      },
    });
  },
  async loadCommands() {
    const [{ doctor }, { backup, restore }, { copy }] = await Promise.all([
      import('./commands/doctor.ts'),
      import('./commands/backup.ts'),
      import('./commands/copy.ts'),
    ]);
    return [doctor, backup, restore, copy];
  },
};
