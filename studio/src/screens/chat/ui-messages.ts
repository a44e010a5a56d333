import { isObject, type JsonObject } from '../../api/values.ts';
import type { Message } from './messages.ts';

/** A UI message: the state key `ui`, written by `typedUi` and `push_ui_message`. */
export interface UiMessage {
  readonly type: 'ui';
  readonly id: string;
  readonly name: string;
  readonly props: JsonObject;
  readonly metadata?: JsonObject | null;
}

function isUiMessage(value: unknown): value is UiMessage {
  return (
    isObject(value) &&
    value['type'] === 'ui' &&
    typeof value['id'] === 'string' &&
    typeof value['name'] === 'string' &&
    isObject(value['props'])
  );
}

/** The UI messages of a state. */
export function uiMessagesOf(values: unknown): readonly UiMessage[] {
  const ui = isObject(values) ? values['ui'] : undefined;
  return Array.isArray(ui) ? ui.filter(isUiMessage) : [];
}

/** The rest of a state. */
export function withoutUi(values: unknown): unknown {
  if (uiMessagesOf(values).length === 0) return values;
  const { ui: _, ...others } = values as JsonObject;
  return others;
}

/** Whether a custom stream event changes UI messages. */
export function isUiEvent(written: unknown): boolean {
  return isUiMessage(written) || (isObject(written) && written['type'] === 'remove-ui');
}

/** The UI messages after a custom stream event, as computed by the reducer of the official packages. */
export function withUiEvent(ui: readonly UiMessage[], event: unknown): readonly UiMessage[] {
  if (isObject(event) && event['type'] === 'remove-ui') return ui.filter(({ id }) => id !== event['id']);
  if (!isUiMessage(event)) return ui;
  const at = ui.findIndex(({ id }) => id === event.id);
  const before = ui[at];
  if (!before) return [...ui, event];
  const props = event.metadata?.['merge'] ? { ...before.props, ...event.props } : event.props;
  return ui.with(at, { ...event, props });
}

/**
 * UI messages by the index of the message they are shown below; -1 is above all. Those without a known message are at the
 * end.
 */
export function uiPlaces(
  ui: readonly UiMessage[],
  messages: readonly Message[],
): ReadonlyMap<number, readonly UiMessage[]> {
  const indexes = new Map<unknown, number>(messages.map(({ id }, i) => [id ?? undefined, i]));
  indexes.delete(undefined);
  // Python names the message `message_id`, JavaScript `id`.
  return Map.groupBy(
    ui,
    ({ metadata }) =>
      indexes.get(metadata?.['message_id']) ?? indexes.get(metadata?.['id']) ?? messages.length - 1,
  );
}
