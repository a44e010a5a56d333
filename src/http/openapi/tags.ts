/** Tags of the official document in its order; our own tags stand next to related ones. */
export const TAGS = {
  assistants: 'Assistants',
  threads: 'Threads',
  runs: 'Thread Runs',
  stateless: 'Stateless Runs',
  crons: 'Crons',
  store: 'Store',
  webhooks: 'Webhooks',
  deployments: 'Deployments',
  system: 'System',
  streaming: 'Streaming',
} as const;

export const GROUPS = [
  { name: TAGS.assistants, description: 'Graphs with their own configuration, in versions.' },
  { name: TAGS.threads, description: 'Conversations: the state and history that runs share.' },
  { name: TAGS.runs, description: 'Runs of an assistant on a thread.' },
  { name: TAGS.stateless, description: 'Runs on their own thread, which is deleted when they end.' },
  { name: TAGS.crons, description: 'Runs on a schedule.' },
  { name: TAGS.store, description: 'Long-term memory across threads, shared with the graphs.' },
  { name: TAGS.webhooks, description: 'Deliveries of the webhooks that report how runs ended.' },
  {
    name: TAGS.deployments,
    description: 'Code from repositories and uploads, built and served by this server.',
  },
  { name: TAGS.system, description: 'Health, version and metrics of the server.' },
  { name: TAGS.streaming, description: 'Event streaming: commands to a thread, and its events.' },
];
