import { z } from 'zod';
import { BadRequest } from '../../core/errors.ts';
import { CHANNELS, type EventStreamRequest, type Namespace } from '../../schemas/event-streaming.ts';
import { boundedInt, MAX_INTEGER } from '../../schemas/numbers.ts';

/** Which events a subscription matches. */
export interface EventFilter {
  readonly channels: ReadonlySet<string>;
  /** `undefined` matches all. */
  readonly namespaces: readonly Namespace[] | undefined;
  readonly depth: number | undefined;
}

const MAX_CHANNELS = 64;
/** Over server-sent events, clients ask with one filter for each subgraph that they show. */
const MAX_NAMESPACES = 256;
/** Subgraphs nest a few levels deep. */
const MAX_SEGMENTS = 100;
/** Characters of a channel, and of a namespace with a separator after each segment: connections keep filters. */
const MAX_ENTRY_LENGTH = 1000;

/** Their sizes have messages of their own. */
const Places = z.array(z.array(z.string())).nullish();

/** Throws `BadRequest`, with the official server's messages where it has them. */
export function eventFilter({ channels, namespaces, depth }: EventStreamRequest): EventFilter {
  if (!Array.isArray(channels) || channels.length === 0) {
    throw new BadRequest('channels is required and must be a non-empty array');
  }
  if (channels.length > MAX_CHANNELS)
    throw new BadRequest(`channels may have at most ${MAX_CHANNELS} entries`);
  if (channels.some((channel) => typeof channel === 'string' && channel.length > MAX_ENTRY_LENGTH)) {
    throw new BadRequest(`channels may have at most ${MAX_ENTRY_LENGTH} characters each`);
  }
  const bogus = channels.filter((channel) => typeof channel !== 'string' || !isChannel(channel));
  if (bogus.length > 0) {
    const allowed = `${CHANNELS.join(', ')}, custom:<name>`;
    throw new BadRequest(`channels contains unsupported entries: ${bogus.join(', ')}. Allowed: ${allowed}`);
  }
  const places = Places.safeParse(namespaces);
  if (!places.success) throw new BadRequest('namespaces must be an array of arrays of strings');
  checkSizes(places.data ?? []);
  return {
    channels: new Set(channels as string[]),
    namespaces: places.data && places.data.length > 0 ? places.data : undefined,
    depth: wholeNumber('depth', depth),
  };
}

function checkSizes(namespaces: readonly Namespace[]): void {
  if (namespaces.length > MAX_NAMESPACES) {
    throw new BadRequest(`namespaces may have at most ${MAX_NAMESPACES} entries`);
  }
  if (namespaces.some((namespace) => namespace.length > MAX_SEGMENTS)) {
    throw new BadRequest(`namespaces may have at most ${MAX_SEGMENTS} segments each`);
  }
  const length = (namespace: Namespace) => namespace.reduce((sum, segment) => sum + segment.length + 1, 0);
  if (namespaces.some((namespace) => length(namespace) > MAX_ENTRY_LENGTH)) {
    throw new BadRequest(`namespaces may have at most ${MAX_ENTRY_LENGTH} characters each`);
  }
}

const WholeNumber = boundedInt({ min: 0, max: MAX_INTEGER }).nullish();

/** Returns `undefined` for `undefined` and `null`. Throws `BadRequest` unless it is a whole number within bounds. */
export function wholeNumber(name: string, value: unknown): number | undefined {
  const { success, data, error } = WholeNumber.safeParse(value);
  if (success) return data ?? undefined;
  throw new BadRequest(`${name} ${error.issues[0]?.message}`);
}

/** A prefix segment without a task id matches every task of that node. */
export function isWithin(namespace: Namespace, prefix: Namespace): boolean {
  return prefix.every((segment, index) => {
    const candidate = namespace[index];
    if (candidate === undefined) return false;
    return candidate === segment || (!segment.includes(':') && candidate.split(':')[0] === segment);
  });
}

function isChannel(name: string): boolean {
  return (CHANNELS as readonly string[]).includes(name) || /^custom:.+/.test(name);
}
