import { BUILD_URL } from './package-files.ts';
import { type FileMap, originOf, readSourceMap } from './source-map.ts';

/** Location in a built file, after its folder. */
const LOCATION = /^([\w/-]+\.js):(\d+):(\d+)/;

const maps = new Map<string, FileMap | undefined>();

/**
 * Frames of a stack with the source file and line of the server's own code, which the package has in a few large files:
 * `…/dist/app-X3.js:900:8` becomes `…/src/services/runs/runs.ts:40:1`. Other frames are unchanged. Never throws.
 */
export function withSourceLocations(frames: string): string {
  if (BUILD_URL === undefined) return frames;
  const [before = '', ...parts] = frames.split(BUILD_URL);
  return before + parts.map((part) => sourceLocation(part) ?? BUILD_URL + part).join('');
}

function sourceLocation(part: string): string | undefined {
  const [location, path = '', line, column] = LOCATION.exec(part) ?? [];
  if (location === undefined) return undefined;
  const map = mapOf(BUILD_URL + path);
  const origin = map && originOf(map, Number(line) - 1, Number(column) - 1);
  return origin && `${origin.url}:${origin.line}:${origin.column}${part.slice(location.length)}`;
}

/** Read when the first error of the file is logged: a third of a megabyte for all of them. */
function mapOf(file: string): FileMap | undefined {
  if (!maps.has(file)) maps.set(file, readSourceMap(`${file}.map`, file));
  return maps.get(file);
}
