import { expect, test } from 'vitest';
import { pricing } from '../../../src/extensions/usage/prices.ts';

const PRICES = {
  'gpt-4o': { in: 2.5, cached: 1.25, out: 10 },
  'gpt-4o-mini*': { in: 0.15, out: 0.6 },
  'gpt-*': { in: 5, out: 15 },
  '*/llama-*-chat': { in: 0.1, out: 0.2 },
};

const costOf = pricing(PRICES);
const call = (model: string | null, tokens = {}) => ({
  kind: 'model' as const,
  model,
  tokens_in: 1_000_000,
  tokens_cached: 0,
  tokens_out: 0,
  ...tokens,
});

test('the price of a model is that of its exact name, else of the longest matching pattern', () => {
  expect(costOf(call('gpt-4o'))).toBe(2.5);
  expect(costOf(call('gpt-4o-mini-2024-07-18'))).toBe(0.15);
  expect(costOf(call('gpt-5'))).toBe(5);
  expect(costOf(call('meta/llama-3-chat'))).toBe(0.1);
});

test('a model without a price has no cost', () => {
  for (const model of ['claude', 'llama-chat', 'meta/llama-chat', 'constructor', '', null])
    expect([model, costOf(call(model))]).toEqual([model, null]);
});

test('a price pattern matches its parts in order, without overlap', () => {
  const priceOf = pricing({ 'ab*ba': { in: 1, out: 1 }, 'x*y*z': { in: 2, out: 2 } });
  expect(priceOf(call('aba'))).toBeNull();
  expect(priceOf(call('abba'))).toBe(1);
  expect(priceOf(call('xyz'))).toBe(2);
  expect(priceOf(call('xzy'))).toBeNull();
});

test('cached tokens have their own price, else that of other input tokens', () => {
  const tokens = { tokens_in: 1000, tokens_cached: 400, tokens_out: 100 };
  expect(costOf(call('gpt-4o', tokens))).toBeCloseTo((600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6, 9);
  expect(costOf(call('gpt-4o-mini', tokens))).toBeCloseTo((1000 * 0.15 + 100 * 0.6) / 1e6, 9);
});

test('a call without token counts has no cost, and other steps do not either', () => {
  expect(costOf(call('gpt-4o', { tokens_in: null, tokens_out: null, tokens_cached: null }))).toBeNull();
  expect(costOf({ ...call('gpt-4o'), kind: 'tool' })).toBeNull();
});
