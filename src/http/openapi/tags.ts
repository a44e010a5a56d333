/** The groups of the official document in its order, and ours beside those that they are like. */
export const TAGS = {
  assistants: 'Assistants',
  threads: 'Threads',
  runs: 'Thread Runs',
  stateless: 'Stateless Runs',
  crons: 'Crons',
  store: 'Store',
  a2a: 'A2A',
  mcp: 'MCP',
  openai: 'OpenAI API',
  webhooks: 'Webhooks',
  system: 'System',
  streaming: 'Streaming',
} as const;

export const GROUPS = [
  { name: TAGS.assistants, description: 'A graph with a configuration of its own, in versions.' },
  { name: TAGS.threads, description: 'What runs share: a conversation, with its state and history.' },
  { name: TAGS.runs, description: 'Runs of an assistant on a thread.' },
  { name: TAGS.stateless, description: 'Runs on a thread of their own, which goes when they end.' },
  { name: TAGS.crons, description: 'Runs that are made by the clock.' },
  { name: TAGS.store, description: 'What is kept for longer than a thread lives, shared with the graphs.' },
  { name: TAGS.a2a, description: 'Assistants as agents of the Agent2Agent protocol.' },
  { name: TAGS.mcp, description: 'Assistants as tools of the Model Context Protocol.' },
  { name: TAGS.openai, description: 'Assistants as models of the chat completions API.' },
  { name: TAGS.webhooks, description: 'What was sent to those who want to know how runs ended.' },
  { name: TAGS.system, description: 'Health, version and figures of the server.' },
  { name: TAGS.streaming, description: 'Event streaming: commands, and what happens on a thread as events.' },
];
