import { z } from 'zod';

/** The body of every failed request (CONTRACT §1). */
export const ErrorResponse = z.object({ detail: z.string() });
export type ErrorResponse = z.infer<typeof ErrorResponse>;
