/** A namespace and its children. */
export interface Branch {
  readonly label: string;
  /** Full name: all labels, joined by dots. */
  readonly path: string;
  readonly children: readonly Branch[];
}

/** The tree of namespaces, ordered by label. */
export function namespaceTree(
  namespaces: readonly (readonly string[])[],
  above: readonly string[] = [],
): Branch[] {
  const depth = above.length;
  const groups = Map.groupBy(
    namespaces.filter((labels) => labels.length > depth),
    (labels) => labels[depth] as string,
  );
  return [...groups]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([label, within]) => {
      const labels = [...above, label];
      return { label, path: labels.join('.'), children: namespaceTree(within, labels) };
    });
}
