import { boolean, group, messageLimit, text } from '../../config/value-types.ts';

export const DISABLED = {
  path: 'http.disable_mcp',
  schema: boolean().default(false).describe('Disables `/mcp`.'),
};

export const HTTP = {
  path: 'http.mcp',
  schema: group({
    cancel_on_disconnect: boolean()
      .default(false)
      .describe('Cancels the run of a tool call when its client disconnects.'),
    base_url: text()
      .optional()
      .describe('Public URL of the server for MCP clients. Unset: that of the request.'),
    body_limit: messageLimit(),
  }).prefault({}),
};

export const PROJECT = {
  path: 'mcp',
  schema: group({
    app: text()
      .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./mcp.ts:register')
      .optional()
      .describe('A function that registers your own tools, resources and prompts, as `path:export`.'),
  }).prefault({}),
};
