/** How a checkpoint is drawn beside the ones above and below it. */
export interface Rail {
  /** Where its dot is; the newest branch is at 0. */
  readonly lane: number;
  /** Lanes of other branches that pass by. */
  readonly passing: readonly number[];
  /** Lanes that come from above and end in this dot: its children. */
  readonly from: readonly number[];
  readonly hasParent: boolean;
}

interface Node {
  readonly checkpoint_id: string;
  readonly parent_checkpoint_id: string | null;
}

/**
 * Rails of a history, newest first, in which a parent is older than its children. While `isComplete` is false, parents
 * that are not among `nodes` are taken to come later; after that, they were pruned.
 */
export function railsOf(nodes: readonly Node[], isComplete: boolean): Rail[] {
  const known = new Set(nodes.map(({ checkpoint_id }) => checkpoint_id));
  /** For each lane, the checkpoint that it leads to. */
  const lanes: (string | null)[] = [];
  return nodes.map(({ checkpoint_id, parent_checkpoint_id: parent }) => {
    const from = lanes.flatMap((id, lane) => (id === checkpoint_id ? [lane] : []));
    const free = lanes.indexOf(null);
    const lane = from[0] ?? (free === -1 ? lanes.length : free);
    for (const each of from) lanes[each] = null;
    lanes[lane] = null;
    const passing = lanes.flatMap((id, each) => (id === null ? [] : [each]));
    const hasParent = parent !== null && (known.has(parent) || !isComplete);
    lanes[lane] = hasParent ? parent : null;
    return { lane, passing, from, hasParent };
  });
}
