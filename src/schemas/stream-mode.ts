import { z } from 'zod';
import { nameRequests } from './named.ts';

/** Contract §5. Only the JavaScript SDK knows `tools` and `lifecycle`. */
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
  'lifecycle',
]);
export type StreamMode = z.infer<typeof StreamMode>;

nameRequests({ StreamMode });
