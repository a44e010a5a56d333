import { z } from 'zod';

/** JSON text. Data of users travels as text, so that every number and key arrives as it was. */
export const Json = z.string();
export const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
/** Number of an open session: a run attempt, or a request. Chosen by the server. */
export const Session = z.number().int().positive();
export const JsonResult = z.object({ json: Json });
