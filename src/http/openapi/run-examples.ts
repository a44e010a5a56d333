import { z } from 'zod';
import { EXAMPLES } from '../../schemas/request-params.ts';

/** Works with every graph that takes messages. */
export const RUN_EXAMPLE = {
  assistant_id: EXAMPLES.graph,
  input: { messages: [{ role: 'user', content: 'Hello' }] },
};

export const STREAM_EXAMPLE = { ...RUN_EXAMPLE, stream_mode: ['updates', 'messages-tuple'] };

/** Errors of run creation, with or without a thread. */
export const STATELESS_FAILURES = {
  400: 'Cannot specify both configurable and context. Prefer setting context alone.',
  404: 'Thread or assistant not found.',
  409: 'Run … already exists',
};

export const CREATE_FAILURES = {
  ...STATELESS_FAILURES,
  409: 'Thread is already running a task. Wait for it to finish or choose a different multitask strategy. …',
};

/** Reply of a streamed run (contract §5). */
export const EVENT_STREAM = {
  content: {
    'text/event-stream': {
      schema: z.string(),
      example:
        ': heartbeat\n\nevent: metadata\ndata: {"run_id":"…","attempt":1}\n\nevent: values\ndata: {"count":1}\n\n',
    },
  },
};
