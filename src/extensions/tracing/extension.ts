import { processEnvironment } from '../../config/env.ts';
import type { Extension } from '../extension.ts';
import { traceSettings } from './settings.ts';

export const tracing: Extension = {
  name: 'tracing',
  isEnabled: () => traceSettings(processEnvironment()) !== undefined,
  async load() {
    const { openTracing } = await import('./observer.ts');
    return openTracing;
  },
};
