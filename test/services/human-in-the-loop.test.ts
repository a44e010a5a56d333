import { expect, test } from 'vitest';
import {
  interruptText,
  resumeValueOf,
  reviewRequestOf,
} from '../../src/services/conversation/human-in-the-loop.ts';

const request = (allowed: unknown, description?: unknown) => ({
  action_requests: [{ name: 'pay', args: { amount: 5 }, description }],
  review_configs: [{ action_name: 'pay', allowed_decisions: allowed }],
});

test.each([
  null,
  'approve',
  {},
  { action_requests: [] },
  { action_requests: 'x' },
  { action_requests: [null] },
  { action_requests: [{ args: {} }] },
  { actionRequests: [{ name: 5 }] },
])('%j is not a review request', (value) => {
  expect(reviewRequestOf(value)).toBeUndefined();
  expect(resumeValueOf(value, 'yes')).toBe('yes');
});

test.each([
  ['yes', { decisions: [{ type: 'approve' }] }],
  [' OK! ', { decisions: [{ type: 'approve' }] }],
  ['no', { decisions: [{ type: 'reject' }] }],
  ['', { decisions: [{ type: 'reject' }] }],
  ['yes, but later', { decisions: [{ type: 'reject', message: 'yes, but later' }] }],
  [
    'approve and delete the rest',
    { decisions: [{ type: 'reject', message: 'approve and delete the rest' }] },
  ],
])('%j in words becomes the decision %j', (text, answer) => {
  expect(resumeValueOf(request(['approve', 'edit', 'reject']), text)).toEqual(answer);
});

test.each([
  [
    'yes',
    ['edit', 'reject'],
    '"approve" is not allowed for pay. Resume the run with decisions of: edit, reject.',
  ],
  ['no', ['approve'], '"reject" is not allowed for pay. Resume the run with decisions of: approve.'],
  ['yes', [], '"approve" is not allowed for pay.'],
])('the decision %j is refused if only %j are allowed', (text, allowed, detail) => {
  expect(() => resumeValueOf(request(allowed), text)).toThrow(detail);
});

test.each([undefined, '', '  ', 5, 'Shall I pay?'])(
  'a review with the description %j shows the arguments',
  (description) => {
    expect(interruptText(request(['approve'], description))).toMatch(/pay.*\{"amount":5\}/s);
  },
);

test('a description of a review that shows the arguments is unchanged', () => {
  const description = `Pay?\n\n${JSON.stringify({ amount: 5 }, null, 2)}`;
  expect(interruptText(request(['approve'], description))).toBe(description);
});
