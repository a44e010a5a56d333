import type { Frame } from '../events/frame.ts';
import type { StreamMode } from '../schemas/stream-mode.ts';
import { frameNamespaces } from './frame-namespaces.ts';

/** What a client wants of a run's events; undefined is no condition. */
export interface Wanted {
  /** With modes there is no `metadata` either (CONTRACT §5). */
  readonly modes?: readonly StreamMode[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
}

/** `error` always passes: a client must learn that the run failed. */
export async function* only(
  frames: AsyncIterable<Frame>,
  { modes, namespaces }: Wanted,
): AsyncIterable<Frame> {
  const isWithin = namespaces ? frameNamespaces(namespaces) : () => true;
  const isOfMode = ({ event }: Frame) => !modes || modes.some((mode) => isOf(event, mode));
  for await (const frame of frames) {
    if (frame.event === 'error' || (isWithin(frame) && isOfMode(frame))) yield frame;
  }
}

/** `messages` comes as `messages/partial` and so on, `messages-tuple` as `messages`; a namespace follows `|`. */
function isOf(event: string, mode: StreamMode): boolean {
  const [name = ''] = event.split('|');
  if (mode === 'messages') return name.startsWith('messages/');
  return name === (mode === 'messages-tuple' ? 'messages' : mode);
}
