import type { Extension } from '../extension.ts';
import { DATA } from './migrations.ts';

export const usage: Extension = {
  name: 'usage',
  isEnabled: () => true,
  data: DATA,
  async load() {
    const { openUsage } = await import('./contribution.ts');
    return openUsage;
  },
};
