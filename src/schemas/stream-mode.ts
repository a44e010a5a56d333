import { z } from 'zod';

/** CONTRACT §5. `tools` is known to the JavaScript SDK only. */
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
