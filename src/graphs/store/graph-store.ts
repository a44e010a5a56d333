import type {
  GetOperation,
  Item,
  ListNamespacesOperation,
  MatchCondition,
  Operation,
  OperationResults,
  PutOperation,
  SearchItem,
  SearchOperation,
} from '@langchain/langgraph-checkpoint';
import { InvalidInput } from '../../core/errors.ts';
import type { StoreItem, StoreMatch } from '../../schemas/store.ts';
import type { LongTermStore } from './long-term-store.ts';

/** What graphs need of the long-term store. */
export type GraphStoreAccess = Pick<LongTermStore, 'apply' | 'get' | 'search' | 'namespaces'>;

/** The long-term store for graphs. */
export function graphStore(store: GraphStoreAccess): GraphStore {
  return new GraphStore(store);
}

/**
 * LangGraph's `BaseStore` by shape, so that a graph of any copy of the library accepts it. Throws `InvalidInput` and
 * `BadRequest` for anything that contract §13 forbids.
 */
export class GraphStore {
  readonly #store: GraphStoreAccess;

  constructor(store: GraphStoreAccess) {
    this.#store = store;
  }

  /** In the given order; consecutive writes are atomic. */
  async batch<Operations extends Operation[]>(operations: Operations): Promise<OperationResults<Operations>> {
    const results: unknown[] = [];
    let changes: PutOperation[] = [];
    const apply = async () => {
      if (changes.length > 0) await this.#store.apply(changes);
      changes = [];
    };
    for (const operation of operations) {
      if (isPut(operation)) {
        changes.push(operation);
        results.push(undefined);
      } else {
        await apply();
        results.push(await this.#read(operation));
      }
    }
    await apply();
    return results as OperationResults<Operations>;
  }

  async get(namespace: string[], key: string): Promise<Item | null> {
    return this.#get({ namespace, key });
  }

  async search(
    namespacePrefix: string[],
    options: Omit<SearchOperation, 'namespacePrefix'> = {},
  ): Promise<SearchItem[]> {
    return this.#search({ ...options, namespacePrefix });
  }

  async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
  ): Promise<void> {
    await this.#store.apply([{ namespace, key, value, index }]);
  }

  async delete(namespace: string[], key: string): Promise<void> {
    await this.#store.apply([{ namespace, key, value: null }]);
  }

  async listNamespaces(
    options: {
      prefix?: string[];
      suffix?: string[];
      maxDepth?: number;
      limit?: number;
      offset?: number;
    } = {},
  ): Promise<string[][]> {
    const { prefix, suffix, maxDepth, limit = 100, offset = 0 } = options;
    if (maxDepth !== undefined && maxDepth < 1) throw new InvalidInput('maxDepth must be at least 1.');
    return this.#store.namespaces({ prefix, suffix, max_depth: maxDepth, limit, offset });
  }

  /** LangGraph calls both around a run; the database is the server's to open and close. */
  start(): void {}

  stop(): void {}

  #read(operation: GetOperation | SearchOperation | ListNamespacesOperation): Promise<unknown> {
    if ('namespacePrefix' in operation) return this.#search(operation);
    if ('key' in operation) return this.#get(operation);
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    return this.listNamespaces({
      ...pathOf('prefix', matchConditions),
      ...pathOf('suffix', matchConditions),
      ...(maxDepth !== undefined && { maxDepth }),
      limit,
      offset,
    });
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const item = await this.#store.get({ namespace, key });
    return item ? itemOf(item) : null;
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, limit = 10, offset = 0, filter, query } = operation;
    const found = await this.#store.search({
      namespace_prefix: namespacePrefix,
      filter,
      query,
      limit,
      offset,
    });
    return found.map(matchOf);
  }
}

function isPut(operation: Operation): operation is PutOperation {
  return 'value' in operation;
}

/** LangGraph's own `listNamespaces` passes at most one of each kind. */
function pathOf(kind: MatchCondition['matchType'], conditions: readonly MatchCondition[]) {
  const path = conditions.find((condition) => condition.matchType === kind)?.path;
  return path && { [kind]: path };
}

function itemOf({ namespace, key, value, created_at, updated_at }: StoreItem): Item {
  return { namespace, key, value, createdAt: new Date(created_at), updatedAt: new Date(updated_at) };
}

function matchOf({ score, ...item }: StoreMatch): SearchItem {
  return score === null ? itemOf(item) : { ...itemOf(item), score };
}
