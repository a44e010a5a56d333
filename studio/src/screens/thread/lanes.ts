/** Geometry of a checkpoint in the rail. */
export interface Rail {
  /** Lane of its dot. The newest branch is lane 0. */
  readonly lane: number;
  /** Lanes of other branches that pass through. */
  readonly passing: readonly number[];
  /** Lanes from above that end at this dot: its children. */
  readonly from: readonly number[];
  readonly hasParent: boolean;
}

interface Node {
  readonly checkpoint_id: string;
  readonly parent_checkpoint_id: string | null;
}

/**
 * Rails of a history, newest first, in which a parent is older than its children. While `isComplete` is false, parents
 * missing from `nodes` are assumed to be on later pages; otherwise they were pruned.
 */
export function railsOf(nodes: readonly Node[], isComplete: boolean): Rail[] {
  const known = new Set(nodes.map(({ checkpoint_id }) => checkpoint_id));
  /** For each lane, the checkpoint it leads to. */
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
