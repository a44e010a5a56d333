import { sectionOf } from '../../config/section.ts';
import type { Extension } from '../extension.ts';
import { DISABLED, STUDIO } from './settings.ts';

export const studio: Extension = {
  name: 'studio',
  sections: [DISABLED, STUDIO],
  isEnabled: (config) => !sectionOf(config, DISABLED),
  page: (config) => sectionOf(config, STUDIO).path,
  async load() {
    const { openStudio } = await import('./studio.ts');
    return openStudio;
  },
};
