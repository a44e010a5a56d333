/** A value that breaks who asks it for anything. */
function trap(): never {
  throw new Error('asked');
}

const TRAPS = Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((name) => [name, trap]));

function errorWith(properties: PropertyDescriptorMap): Error {
  return Object.defineProperties(new Error('told'), properties);
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function circular(): Error {
  const error = new Error('round');
  error.cause = error;
  return error;
}

/** What user code has been seen to throw, or may: by name, each made anew. */
export const ODD_THROWS: Readonly<Record<string, () => unknown>> = {
  'an object as the message': () => errorWith({ message: { value: { code: 429 } } }),
  'a number as the message': () => errorWith({ message: { value: 7 } }),
  'a number too large as the message': () => errorWith({ message: { value: 2n ** 64n } }),
  'a symbol as the message': () => errorWith({ message: { value: Symbol('s') } }),
  'a function as the message': () => errorWith({ message: { value: trap } }),
  'a message that throws': () => errorWith({ message: { get: trap } }),
  'a symbol as the name': () => errorWith({ name: { value: Symbol('s') } }),
  'a name that throws': () => errorWith({ name: { get: trap } }),
  'a stack that throws': () => errorWith({ stack: { get: trap } }),
  'an object as the stack': () => errorWith({ stack: { value: {} } }),
  'a toString that throws': () => errorWith({ toString: { value: trap } }),
  'a constructor that throws': () => errorWith({ constructor: { get: trap } }),
  'a cause that throws': () => errorWith({ cause: { get: trap } }),
  'its own cause': circular,
  'a frozen error': () => Object.freeze(new Error('cold')),
  'an object without a prototype': () => Object.create(null),
  'such an object with a message': () => Object.assign(Object.create(null), { message: 'bare' }),
  'an object whose text throws': () => ({ toString: trap, toJSON: trap }),
  'an object whose class throws': () => Object.defineProperty({}, Symbol.toStringTag, { get: trap }),
  'an error in a proxy that throws': () => new Proxy(new Error('behind'), TRAPS),
  'an error below a proxy that throws': () => Object.setPrototypeOf(new Error('x'), new Proxy({}, TRAPS)),
  'a revoked proxy': revoked,
  'a list that holds itself': () => {
    const list: unknown[] = [];
    list.push(list);
    return list;
  },
  'a text': () => 'just a text',
  'a class': () => TypeError,
  'a symbol': () => Symbol('s'),
  'a number too large': () => 2n ** 64n,
  nothing: () => undefined,
  null: () => null,
  'an empty text': () => '',
  zero: () => 0,
  false: () => false,
};
