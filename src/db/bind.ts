/** The functions of `Verbs` with their first parameter bound. */
export type Bound<First, Verbs> = {
  readonly [Name in keyof Verbs]: Verbs[Name] extends (first: First, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** A repository from functions that share their first parameter, as in `bind(db, { get, list })`. */
export function bind<
  First,
  Verbs extends Readonly<Record<string, (first: First, ...rest: never[]) => unknown>>,
>(first: First, verbs: Verbs): Bound<First, Verbs> {
  const bound = Object.entries(verbs).map(([name, verb]) => [
    name,
    (...rest: never[]) => verb(first, ...rest),
  ]);
  return Object.fromEntries(bound) as Bound<First, Verbs>;
}
