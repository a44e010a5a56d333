import { z } from 'zod';
import type { Variable } from '../../config/env.ts';
import { boolean, group, mustBe, stringList, text } from '../../config/value-types.ts';

export const DISABLED = {
  path: 'http.disable_ui',
  schema: boolean().default(false).describe('Disables `/ui`.'),
};

export const COMPONENTS = {
  path: 'ui',
  schema: z
    .record(z.string().min(1), text(), mustBe('a map of names to files'))
    .optional()
    .describe('Files of components for generative user interfaces, by the graph they belong to.')
    .meta({ type: 'map' }),
};

export const BUNDLES = {
  path: 'ui_config',
  schema: group({
    shared: stringList()
      .default([])
      .describe('Modules that the page provides, besides React and the SDK, and that are not bundled.'),
  }).prefault({}),
};

export const VARIABLES: readonly Variable[] = [
  { name: 'LANGGRAPH_UI', key: 'ui', json: true },
  { name: 'LANGGRAPH_UI_CONFIG', key: 'ui_config', json: true },
];
