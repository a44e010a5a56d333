import { z } from 'zod';
import { queryList } from './fields.ts';

/** Contract §5 "Thread stream". */
export const ThreadStreamMode = z.enum(['run_modes', 'lifecycle', 'state_update'], {
  error: (issue) => `Invalid stream mode: ${String(issue.input)}`,
});
export type ThreadStreamMode = z.infer<typeof ThreadStreamMode>;

const modes = queryList(ThreadStreamMode).optional();

/** The SDKs send `stream_mode`, the official server reads `stream_modes`: both are accepted. */
export const ThreadStreamQuery = z.object({
  stream_mode: modes.meta({ description: 'Alias of `stream_modes`.' }),
  stream_modes: modes.meta({
    description:
      '`run_modes`: the events of each run. `lifecycle`: only the start and end of runs. `state_update`: changes to the state outside of runs. Default: `run_modes`.',
  }),
});

export const ThreadStreamHeaders = z.looseObject({
  'last-event-id': z
    .string()
    .regex(/^(-|\d{1,15}(-\d{1,15})?)?$/, 'Invalid last-event-id: must be a valid Redis stream ID')
    .optional()
    .meta({
      description:
        'The last id received: events after it are replayed. `-` replays all stored events. Default: only future events.',
    }),
});
