import { sectionOf } from '../../config/section.ts';
import { boolean } from '../../config/value-types.ts';
import type { Extension } from '../extension.ts';
import { data } from './data.ts';
import { A2a } from './section.ts';

const SECTION = { path: 'http.a2a', schema: A2a };
const DISABLED = {
  path: 'http.disable_a2a',
  schema: boolean().default(false).describe('Disables `/a2a` and the agent cards.'),
};

export const a2a: Extension = {
  name: 'a2a',
  sections: [DISABLED, SECTION],
  isEnabled: (config) => !sectionOf(config, DISABLED),
  data,
  async load() {
    const { openA2a } = await import('./contribution.ts');
    return (core) => openA2a(core, sectionOf(core.config, SECTION));
  },
};
