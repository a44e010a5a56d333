import { uiMessageReducer } from '@langchain/langgraph-sdk/react-ui/server';
import { expect, test } from 'vitest';
import type { Message } from '../../studio/src/screens/chat/messages.ts';
import {
  type UiMessage,
  uiMessagesOf,
  uiPlaces,
  withoutUi,
  withUiEvent,
} from '../../studio/src/screens/chat/ui-messages.ts';

const ui = (id: string, props: object = {}, metadata?: object) =>
  ({ type: 'ui', id, name: 'card', props, metadata }) as UiMessage;
const said = (id: string) => ({ type: 'human', id, content: id }) as Message;
test('events of a stream update UI components like the reducer of the official package', () => {
  const events = [
    ui('a', { x: 1 }),
    ui('b', { y: 1 }),
    ui('a', { z: 2 }, { merge: true }),
    ui('b', { z: 2 }),
    { type: 'remove-ui' as const, id: 'c' },
    ui('c'),
    { type: 'remove-ui' as const, id: 'c' },
  ];
  const official = events.reduce<ReturnType<typeof uiMessageReducer>>(
    (state, event) => uiMessageReducer(state, event as never),
    [],
  );
  expect(events.reduce(withUiEvent, [])).toEqual(official);
});

test('values that are no UI components are omitted', () => {
  const values = { ui: [ui('a'), null, 'x', { type: 'ui', id: 1 }, { ...ui('b'), props: [] }], city: 'Rome' };
  expect(uiMessagesOf(values)).toEqual([ui('a')]);
  for (const state of [undefined, [], { ui: 'x' }]) expect(uiMessagesOf(state)).toEqual([]);
  for (const event of [undefined, 'x', { step: 1 }]) expect(withUiEvent([ui('a')], event)).toEqual([ui('a')]);
  expect(withoutUi(values)).toEqual({ city: 'Rome' });
  expect(withoutUi({ ui: 'dark' })).toEqual({ ui: 'dark' });
});

test('UI components are below their message, else at the end of the conversation', () => {
  const messages = ['asks', 'answers', 'asks again', 'answers again'].map(said);
  const shown = [
    ui('of Python', {}, { message_id: 'asks' }),
    ui('of JavaScript', {}, { id: 'answers' }),
    ui('of a message that is not there', {}, { message_id: 'gone' }),
    ui('of nothing'),
  ];
  const places = uiPlaces(shown, messages);
  expect([...places].map(([index, each]) => [index, each.map(({ id }) => id)])).toEqual([
    [0, ['of Python']],
    [1, ['of JavaScript']],
    [3, ['of a message that is not there', 'of nothing']],
  ]);
  expect(uiPlaces([ui('a')], []).get(-1)).toEqual([ui('a')]);
});
