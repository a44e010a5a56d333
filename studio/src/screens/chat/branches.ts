import type { Schemas } from '../../api/client.ts';

export type CheckpointNode = Schemas['CheckpointNode'];

/** A fork in the history of a thread, seen from one branch. */
export interface Fork {
  /** The last checkpoint that the branches share. */
  readonly parent_id: string;
  /** The newest checkpoint of each branch, oldest branch first. */
  readonly heads: readonly string[];
  /** Index of the shown branch. */
  readonly position: number;
}

/** The checkpoints from the first to `head_id`. */
export function lineageOf(tree: readonly CheckpointNode[], head_id: string): readonly CheckpointNode[] {
  const byId = new Map(tree.map((node) => [node.checkpoint_id, node]));
  const lineage: CheckpointNode[] = [];
  for (let node = byId.get(head_id); node; node = byId.get(node.parent_checkpoint_id ?? ''))
    lineage.push(node);
  return lineage.reverse();
}

/** The forks along the branch that leads to `head_id`, oldest first. */
export function forksOf(tree: readonly CheckpointNode[], head_id: string): readonly Fork[] {
  const children = Map.groupBy(tree, (node) => node.parent_checkpoint_id ?? '');
  return lineageOf(tree, head_id).flatMap((node): Fork[] => {
    const siblings = children.get(node.parent_checkpoint_id ?? '') ?? [];
    if (siblings.length < 2 || node.parent_checkpoint_id === null) return [];
    const branches = siblings.toSorted((a, b) => (a.checkpoint_id < b.checkpoint_id ? -1 : 1));
    return [
      {
        parent_id: node.parent_checkpoint_id,
        heads: branches.map((branch) => newestBelow(branch.checkpoint_id, children)),
        position: branches.indexOf(node),
      },
    ];
  });
}

/** Ids of checkpoints grow with time. */
function newestBelow(id: string, children: ReadonlyMap<string, readonly CheckpointNode[]>): string {
  let newest = id;
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next > newest) newest = next;
    open.push(...(children.get(next) ?? []).map(({ checkpoint_id }) => checkpoint_id));
  }
  return newest;
}

/**
 * The checkpoint to continue from to rerun the one at `index` of the lineage and all that follow. All versions of a message
 * fork from the same checkpoint: checkpoints that only started a version are skipped.
 */
export function forkPoint(lineage: readonly CheckpointNode[], index: number): string | undefined {
  let at = index - 1;
  while (at > 0 && isBeginning(lineage[at])) at--;
  return lineage[at]?.checkpoint_id;
}

function isBeginning(node: CheckpointNode | undefined): boolean {
  return (node?.source === 'input' || node?.source === 'fork') && node.changed_channels?.length === 0;
}

/** Binary search: index of the first of `count` that passes `test`, given that all later ones pass. `count` if none does. */
export async function firstWhere(count: number, test: (index: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (await test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
