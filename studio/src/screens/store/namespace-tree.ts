/** A namespace, and those that begin with it. */
export interface Branch {
  readonly label: string;
  /** All labels, between dots. */
  readonly path: string;
  readonly children: readonly Branch[];
}

/** The tree of namespaces, in the order of their labels. */
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
