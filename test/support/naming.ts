import { expect } from 'vitest';

type Named = string | number;

/**
 * Matches a text that names all of these: the field, the value, the key of the configuration. For tests that are about
 * something other than the words of a message.
 */
export function naming(...named: readonly Named[]): string {
  const ahead = named.map((each) => `(?=[^]*${String(each).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')})`);
  return expect.stringMatching(new RegExp(`^${ahead.join('')}`)) as string;
}

/** An answer of the API that refuses a request: its status, and what its `detail` names. */
export function refusal(status: number, ...named: readonly Named[]) {
  return { status, body: { detail: naming(...named) } };
}

/** For `toThrow`: an error of this class whose message names all of these. */
export function failure(type: abstract new (...args: never[]) => Error, ...named: readonly Named[]) {
  return {
    asymmetricMatch: (error: unknown) =>
      error instanceof type && named.every((each) => error.message.includes(String(each))),
    toString: () => `${type.name} naming ${named.join(', ')}`,
  };
}
