/** LangChain's `type` and OpenAI's `role` are both understood. */
export const MESSAGE_SCHEMA = {
  type: 'object',
  description: 'A chat message as it is sent and read.',
  properties: {
    type: { type: 'string', description: 'Who speaks: human, ai, system, tool, …' },
    role: { type: 'string', description: 'Instead of `type`: user, assistant, system, tool.' },
    content: {
      anyOf: [
        { type: 'string' },
        { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'object' }] } },
      ],
      description: 'Text, or blocks such as text and images.',
    },
    id: { type: ['string', 'null'], description: 'A message with the id of an earlier one replaces it.' },
    name: { type: ['string', 'null'] },
    tool_calls: { type: 'array', items: { type: 'object' } },
    tool_call_id: { type: 'string' },
    additional_kwargs: { type: 'object' },
    response_metadata: { type: 'object' },
  },
  required: ['content'],
};

/** LangGraph's own mark of a list of messages, by which user interfaces know a chat. */
export const MESSAGES_MARK = { langgraph_type: 'messages' };

export const MESSAGES_SCHEMA = { type: 'array', items: MESSAGE_SCHEMA, ...MESSAGES_MARK };
