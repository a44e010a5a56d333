import { z } from 'zod';
import { group, list, must, text } from '../values.ts';

export const Ui = z
  .record(z.string().min(1), text(), must('a map of names to files'))
  .optional()
  .describe('Files of components for generative user interfaces, by the graph they belong to.')
  .meta({ type: 'map' });

export const UiConfig = group({
  shared: list()
    .default([])
    .describe('Modules that the page provides, besides React and the SDK, and that are not bundled.'),
});
