import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypeSchemasByNamespace } from './extract.ts';
import type { Extracted, GraphSource } from './extraction.ts';

/** Version of the entry format: increment it with any change to what is written. Other versions are cache misses. */
const FORMAT = 1;

interface Entry {
  readonly format: number;
  /** File → content hash. Packages are listed by their package.json, hence with their versions. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly schemas: TypeSchemasByNamespace;
}

/** Disk cache of schemas from types: one file per graph, valid while none of its dependencies has changed. */
export function schemaCache(folder: string) {
  const hashes = new Map<string, Promise<string>>();

  /** Cached: a running server uses the files it started with. */
  function hashOf(file: string): Promise<string> {
    const hash = hashes.get(file) ?? contentHash(file);
    hashes.set(file, hash);
    return hash;
  }

  function pathOf({ file, export: name }: GraphSource): string {
    return join(folder, `${sha256(`${file}\n${name}`).slice(0, 32)}.json`);
  }

  return {
    /** Returns `undefined` if there is no entry, or a stale one. */
    async read(graph: GraphSource): Promise<TypeSchemasByNamespace | undefined> {
      const text = await readFile(pathOf(graph), 'utf8').catch(() => undefined);
      const entry = text === undefined ? undefined : parsed(text);
      if (entry?.format !== FORMAT) return undefined;
      const unchanged = await Promise.all(
        Object.entries(entry.dependencies).map(async ([file, hash]) => (await hashOf(file)) === hash),
      );
      return unchanged.every(Boolean) ? entry.schemas : undefined;
    },

    /** Throws if the folder is not writable. */
    async write(graph: GraphSource, { schemas, dependencies }: Extracted): Promise<void> {
      const hashed = await Promise.all(dependencies.map(async (file) => [file, await hashOf(file)] as const));
      const entry: Entry = { format: FORMAT, dependencies: Object.fromEntries(hashed), schemas };
      await mkdir(folder, { recursive: true });
      const path = pathOf(graph);
      // Atomic rename: another process may read or write the same entry.
      const draft = `${path}.${process.pid}`;
      await writeFile(draft, JSON.stringify(entry));
      await rename(draft, path);
    },
  };
}

function parsed(text: string): Entry | undefined {
  try {
    return JSON.parse(text) as Entry;
  } catch {
    return undefined;
  }
}

async function contentHash(file: string): Promise<string> {
  const content = await readFile(file).catch(() => undefined);
  return content === undefined ? '' : sha256(content);
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
