import { expect, test } from 'vitest';
import { choicesOf } from '../../studio/src/screens/interrupts/choices.ts';

test('the options of a question are answers, by their value or by their label', () => {
  const options = [
    'Red',
    3,
    { label: 'Blue', value: { code: 7 } },
    { title: 'Green', id: 'g' },
    { name: 'None' },
    ' ',
  ];
  expect(choicesOf({ question: 'Which?', options })).toEqual({
    options: [
      { label: 'Red', value: 'Red' },
      { label: '3', value: 3 },
      { label: 'Blue', value: { code: 7 } },
      { label: 'Green', value: 'g' },
      { label: 'None', value: 'None' },
      { label: '(empty)', value: ' ' },
    ],
    rest: {},
  });
  expect(choicesOf({ message: 'Go on?', choices: [true, false], price: 3 })).toEqual({
    options: [
      { label: 'true', value: true },
      { label: 'false', value: false },
    ],
    rest: { price: 3 },
  });
});

test.each([
  [{ options: ['Red'] }],
  [{ question: 'Which?' }],
  [{ question: 'Which?', options: [] }],
  [{ question: 'Which?', options: 'Red' }],
  [{ question: 'Which?', options: ['Red', null] }],
  [{ question: 'Which?', options: [{ value: {} }] }],
  [{ question: 'Which?', options: Array.from({ length: 13 }, (_, n) => n) }],
  ['Which?'],
])('%j offers no options', (value) => {
  expect(choicesOf(value)).toBeUndefined();
});
