import { group, text } from '../values.ts';

export const Mcp = group({
  app: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./mcp.ts:register')
    .optional()
    .describe('A function that registers your own tools, resources and prompts, as `path:export`.'),
});
