import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { BUILD_URL } from './package-files.ts';

/** Location in a built file, after its folder. */
const LOCATION = /^([\w/-]+\.js):(\d+):(\d+)/;

const maps = new Map<string, SourceMap | undefined>();

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
  const file = BUILD_URL + path;
  const origin = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (origin === undefined || !('originalSource' in origin)) return undefined;
  const { originalSource, originalLine, originalColumn } = origin;
  const source = new URL(originalSource, file).href;
  return `${source}:${originalLine + 1}:${originalColumn + 1}${part.slice(location.length)}`;
}

/** Read when the first error of the file is logged: a third of a megabyte for all of them. */
function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(file));
  return maps.get(file);
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')));
  } catch {
    return undefined;
  }
}
