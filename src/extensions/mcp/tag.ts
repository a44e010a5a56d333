/** Its group in the OpenAPI document. */
export const TAG = {
  tags: ['MCP'],
  tag_description: 'Assistants as tools, over the Model Context Protocol.',
  tag_after: 'Store',
};
