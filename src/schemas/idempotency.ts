import { z } from 'zod';

/** Routes that make something read them: the same request with the same key makes it once. */
export const CreateHeaders = z.looseObject({
  'idempotency-key': z.string().min(1).max(255).optional().meta({
    description:
      'Any text. For 24 hours, the same request with the same key returns the same response and creates nothing.',
  }),
});
