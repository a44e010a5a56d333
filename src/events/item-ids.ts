/** Address of an item in the store. */
export interface ItemAddress {
  readonly namespace: readonly string[];
  readonly key: string;
}

/** An item as an id of a change: the labels of its namespace and its key, percent-encoded, with slashes in between. */
export function itemIdOf({ namespace, key }: ItemAddress): string {
  return [...namespace, key].map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** The address that `itemIdOf` made an id of. */
export function itemAddressOf(id: string): ItemAddress {
  const parts = id.split('/').map(decodeURIComponent);
  return { namespace: parts.slice(0, -1), key: parts.at(-1) ?? '' };
}
