import { z } from 'zod';

/** CONTRACT §5. Only the JavaScript SDK knows `tools`. */
export const StreamMode = z.enum([
  'values',
  'updates',
  'messages',
  'messages-tuple',
  'tasks',
  'checkpoints',
  'events',
  'debug',
  'custom',
  'tools',
]);
export type StreamMode = z.infer<typeof StreamMode>;
