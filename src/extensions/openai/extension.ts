import { sectionOf } from '../../config/section.ts';
import { boolean, group } from '../../config/value-types.ts';
import type { Extension } from '../extension.ts';
import { openAiError } from './error-body.ts';

const SECTION = {
  path: 'http.openai',
  schema: group({
    enabled: boolean()
      .default(false)
      .describe("Serves `/v1/models` and `/v1/chat/completions`, for front ends that use OpenAI's API."),
  }).prefault({}),
};

const ROUTES = /^\/v1\/(chat\/completions|models(\/.*)?)$/;

export const openai: Extension = {
  name: 'openai',
  sections: [SECTION],
  isEnabled: (config) => sectionOf(config, SECTION).enabled,
  offAnswer: (path) =>
    ROUTES.test(path)
      ? openAiError(404, 'The OpenAI API of this server is disabled. Set http.openai.enabled to true.')
      : undefined,
  async load() {
    const { openAiRoutes } = await import('./routes.ts');
    return () => ({ routes: [openAiRoutes] });
  },
};
