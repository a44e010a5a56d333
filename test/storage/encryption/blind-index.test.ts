import { expect, test } from 'vitest';
import { toJson } from '../../../src/core/json.ts';
import { blindDocument } from '../../../src/db/encryption/blind-index.ts';
import { plainCipher } from '../../../src/db/encryption/cipher.ts';
import { EncryptingCipher } from '../../../src/db/encryption/encrypting-cipher.ts';
import { contains } from '../../support/contains.ts';
import { testSealer } from '../../support/encryption.ts';
import { RandomJson } from '../../support/random-json.ts';

const cipher = new EncryptingCipher(testSealer());
cipher.useBlindIndexKey(Buffer.alloc(32, 7));
const blinded = (value: unknown) => blindDocument(cipher, 'threads.outline', value);

test('a blind index keeps member names and structure, but no value', () => {
  const value = {
    user: { name: 'Ada', age: 36 },
    tags: ['a', 'b', 'a'],
    none: {},
    no: null,
    gone: undefined,
  };
  const token = expect.stringMatching(/^[0-9a-f]{24}$/);
  const { user, ...rest } = blinded(value) as { user: object };
  expect(rest).toEqual({ tags: [token, token, token], none: {}, no: null });
  expect(Object.entries(user)).toEqual([
    [token, token],
    [token, token],
  ]);
  expect(blinded(value)).toEqual(blinded(structuredClone(value)));
});

test('a blind index distinguishes values by their JSON type', () => {
  const values = ['1', 1, 'true', true, false, 'null', null, '', 0];
  expect(new Set(values.map(blinded)).size).toBe(values.length);
  expect(blinded({ in: { a: 'a' } })).not.toEqual(blinded({ in: { b: 'a' } }));
  expect(blinded(JSON.parse('1.0'))).toBe(blinded(1));
  expect(blinded(JSON.parse('1e2'))).toBe(blinded(100));
});

test('a blinded document contains a blinded filter exactly if it does in plain text', () => {
  const random = new RandomJson(11);
  const answers = Array.from({ length: 500 }, () => {
    const document = JSON.parse(toJson(random.object()));
    const question = JSON.parse(toJson(random.partOfObject(document)));
    const expected = contains(document, question);
    expect(contains(blinded(document), blinded(question))).toBe(expected);
    return expected;
  });
  expect(new Set(answers).size).toBe(2);
});

test('the blind index of a value without encryption is the value itself', () => {
  const value = { a: [1] };
  expect(blindDocument(plainCipher, 'threads.outline', value)).toBe(value);
});
