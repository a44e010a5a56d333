import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** The map of a compiled file. */
export interface FileMap {
  readonly map: SourceMap;
  /** Base URL of the source paths. */
  readonly base: string;
}

/** A place in a source; 1-based. */
interface Origin {
  readonly url: URL;
  readonly line: number;
  readonly column: number;
}

/**
 * Reads the map of `file` at `address`, a `file:` or `data:` URL, relative to `file` or absolute. `undefined` if there is
 * none or it is invalid.
 */
export function readSourceMap(address: string, file: string): FileMap | undefined {
  try {
    const at = new URL(address, file);
    const isInline = at.protocol === 'data:';
    const text = isInline ? dataOf(at) : readFileSync(at, 'utf8');
    return { map: new SourceMap(JSON.parse(text)), base: isInline ? file : at.href };
  } catch {
    return undefined;
  }
}

/** Where a place in the compiled file was written; 0-based `line` and `column`. `undefined` if the map does not know. */
export function originOf({ map, base }: FileMap, line: number, column: number): Origin | undefined {
  const found = map.findEntry(line, column);
  if (!('originalSource' in found)) return undefined;
  const { originalSource, originalLine, originalColumn } = found;
  const url = URL.parse(originalSource, base);
  return url === null ? undefined : { url, line: originalLine + 1, column: originalColumn + 1 };
}

function dataOf({ href }: URL): string {
  const comma = href.indexOf(',');
  const data = decodeURIComponent(href.slice(comma + 1));
  return href.slice(0, comma).endsWith(';base64') ? Buffer.from(data, 'base64').toString() : data;
}
