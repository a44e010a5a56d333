import { isObject } from '../core/json.ts';
import type { ThreadState, ThreadStateField } from '../schemas/thread-state.ts';
import { pick } from './page.ts';

const CHANNEL = 'values.';

/** The state with the selected fields alone; of its values all, or only the channels that are named. */
export function selectState(
  state: ThreadState,
  select: readonly ThreadStateField[] | null | undefined,
): ThreadState {
  if (!select) return state;
  const channels = select
    .filter((field) => field.startsWith(CHANNEL))
    .map((field) => field.slice(CHANNEL.length));
  const picked = pick(state, select) as ThreadState;
  if (channels.length === 0 || select.includes('values')) return picked;
  return { ...picked, values: isObject(state.values) ? pick(state.values, channels) : {} };
}
