import { BadRequest, InvalidInput } from '../core/errors.ts';

/** Rules for what is written (CONTRACT §13). Throws `InvalidInput` for a bad label, else `BadRequest`. */
export function checkNamespace(namespace: readonly unknown[]): asserts namespace is string[] {
  if (namespace.length === 0) throw new BadRequest('Namespace cannot be empty.');
  checkLabels(namespace);
  if (namespace[0] === 'langgraph') throw new BadRequest('Root label for namespace cannot be "langgraph".');
}

/** Rules for any label; `*` is one like others here. */
export function checkLabels(labels: readonly unknown[]): asserts labels is string[] {
  for (const label of labels) {
    if (typeof label !== 'string') throw new InvalidInput('Namespace labels must be strings.');
    if (label === '') throw new InvalidInput('Namespace labels cannot be empty strings.');
    if (label.includes('.')) {
      throw new InvalidInput(`Invalid namespace label "${label}": labels cannot contain periods (".").`);
    }
    if (label.includes('\0')) throw new InvalidInput('Namespace labels cannot contain NUL characters.');
  }
}

export function checkKey(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw new InvalidInput('The key of an item must be a string.');
  if (key.includes('\0')) throw new InvalidInput('The key of an item cannot contain NUL characters.');
}
