import { isObject } from '../../core/json.ts';
import { pickFields } from '../../core/pick-fields.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { StateSelection } from '../graph.ts';

const CHANNEL_PREFIX = 'values.';

/** Projects a state to the selected fields; `values` whole, or only the named channels. */
export function selectState(state: ThreadState, select: StateSelection): ThreadState {
  if (!select) return state;
  const channels = select
    .filter((field) => field.startsWith(CHANNEL_PREFIX))
    .map((field) => field.slice(CHANNEL_PREFIX.length));
  const picked = pickFields(state, select) as ThreadState;
  if (channels.length === 0 || select.includes('values')) return picked;
  return { ...picked, values: isObject(state.values) ? pickFields(state.values, channels) : {} };
}
