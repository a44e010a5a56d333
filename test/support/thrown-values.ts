import fc from 'fast-check';

/** How a value is made: to make it only when it is thrown keeps the library from asking it for anything. */
export type Recipe =
  | { readonly plain: unknown }
  | { readonly odd: keyof typeof ODD }
  | { readonly kind: keyof typeof KINDS; readonly form: Form; readonly properties: Record<string, Recipe> };

type Form = 'as it is' | 'frozen' | 'behind a proxy' | 'revoked';

/** What no JSON can say. `throws` makes a getter that throws. */
const ODD = {
  undefined: undefined,
  symbol: Symbol('s'),
  function: () => 1,
  bigint: 10n,
  long: 'x'.repeat(40_000),
  half: '\ud83d',
  throws: Symbol('throws'),
};

const KINDS = {
  error: () => new Error('made'),
  bare: () => Object.create(null) as object,
  object: () => ({}),
  list: () => [1],
};

const NAMES = ['message', 'name', 'stack', 'cause', 'toString', 'toJSON', 'constructor', 'code', 'valueOf'];

/** Errors, objects and plain values, whose properties are such values or throw, some behind a proxy. */
export function recipes(): fc.Arbitrary<Recipe> {
  const { recipe } = fc.letrec<{ recipe: Recipe; held: Recipe }>((tie) => ({
    recipe: fc.oneof({ maxDepth: 3 }, plainRecipe(), tie('held')),
    held: fc.record({
      kind: fc.constantFrom(...(Object.keys(KINDS) as (keyof typeof KINDS)[])),
      form: fc.constantFrom<Form>('as it is', 'frozen', 'behind a proxy', 'revoked'),
      properties: fc.dictionary(fc.constantFrom(...NAMES), tie('recipe'), { maxKeys: 5 }),
    }),
  }));
  return recipe;
}

function plainRecipe(): fc.Arbitrary<Recipe> {
  const odd = fc.constantFrom(...(Object.keys(ODD) as (keyof typeof ODD)[])).map((name) => ({ odd: name }));
  const plain = fc.oneof(fc.string(), fc.webUrl(), fc.double(), fc.constant(null));
  return fc.oneof(
    odd,
    plain.map((value) => ({ plain: value })),
  );
}

export function madeFrom(recipe: Recipe): unknown {
  if ('plain' in recipe) return recipe.plain;
  if ('odd' in recipe) return ODD[recipe.odd];
  const made = KINDS[recipe.kind]();
  for (const [name, of] of Object.entries(recipe.properties)) {
    const value = madeFrom(of);
    const property = value === ODD.throws ? { get: () => thrown(made) } : { value, enumerable: true };
    Object.defineProperty(made, name, property);
  }
  return formed(recipe.form, made);
}

function formed(form: Form, value: object): object {
  if (form === 'as it is') return value;
  if (form === 'frozen') return Object.freeze(value);
  const trap = () => thrown(value);
  const { proxy, revoke } = Proxy.revocable(value, { get: trap, getPrototypeOf: trap });
  if (form === 'revoked') revoke();
  return proxy;
}

function thrown(value: unknown): never {
  throw value;
}
