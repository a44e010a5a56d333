import type { Namespace } from '../../schemas/event-streaming.ts';

/** A protocol event that is made from a frame of a log, without its number. */
export interface EventPart {
  readonly method: string;
  /** Default: the method's own channel. */
  readonly channel?: string;
  readonly namespace?: Namespace;
  /** The node that it is of. */
  readonly node?: string;
  readonly data: unknown;
}
