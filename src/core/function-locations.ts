import { type Debugger, type Runtime, Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { tryOrUndefined } from './failure.ts';
import { type FileMap, originOf, readSourceMap } from './source-map.ts';

/** Where a function begins. */
export interface FunctionLocation {
  /** Absolute path. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
}

interface Script {
  readonly url: string;
  /** Empty: it is the source. */
  readonly sourceMapURL: string;
}

/** By id, which V8 gives once; `undefined` for anything but a file of a project. */
let scripts: ReadonlyMap<string, Script | undefined> = new Map();

/** Where the inspector finds the function it is asked about. */
const KEY = '__agent_server_function';

/** Places in sources that were looked up in a map, by script, line and column: it may be large. */
const mappedPlaces = new Map<string, FunctionLocation>();

/** Maps of compiled files that are read for one call. */
type Maps = Map<Script, FileMap | undefined>;

/**
 * Where functions begin, by a debugger session of this thread with itself: nothing else knows it of a function that does
 * not execute. `undefined` for native ones, and for code of packages or of no file. Listing the scripts of the process
 * blocks it for some 30 ms per thousand: done once, and again only for a function of a script that was loaded later.
 */
export function functionLocations(functions: readonly unknown[]): (FunctionLocation | undefined)[] {
  const session = new Session();
  session.connect();
  try {
    const found = functions.map((each) => (typeof each === 'function' ? placeOf(session, each) : undefined));
    const unknown = found.flatMap((place) => (place && !scripts.has(place.scriptId) ? [place.scriptId] : []));
    if (unknown.length > 0)
      scripts = new Map([...unknown.map((id) => [id, undefined] as const), ...scriptsOf(session)]);
    const maps: Maps = new Map();
    return found.map((place) => place && inSource(place, maps));
  } finally {
    session.disconnect();
  }
}

/** Sessions of the same thread are answered before `post` returns. */
function ask<Answer>(session: Session, method: string, params: object = {}): Answer | undefined {
  let answer: Answer | undefined;
  session.post(method, params, (_error, result) => {
    answer = result as Answer;
  });
  return answer;
}

function placeOf(session: Session, of: object): Debugger.Location | undefined {
  const globals = globalThis as Record<string, unknown>;
  globals[KEY] = of;
  const value = ask<Runtime.EvaluateReturnType>(session, 'Runtime.evaluate', { expression: KEY });
  delete globals[KEY];
  return locationOf(session, value?.result.objectId);
}

function locationOf(session: Session, objectId: string | undefined): Debugger.Location | undefined {
  const params = { objectId, ownProperties: true };
  const { internalProperties = [] } =
    ask<Runtime.GetPropertiesReturnType>(session, 'Runtime.getProperties', params) ?? {};
  const internal = (name: string) => internalProperties.find((each) => each.name === name)?.value;
  // Made by `bind`.
  const target = internal('[[TargetFunction]]')?.objectId;
  return target === undefined ? internal('[[FunctionLocation]]')?.value : locationOf(session, target);
}

function scriptsOf(session: Session): [string, Script | undefined][] {
  const found: [string, Script | undefined][] = [];
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url, sourceMapURL = '' } }) => {
    const isOfProject = url.startsWith('file://') && !url.includes('/node_modules/');
    found.push([scriptId, isOfProject ? { url, sourceMapURL } : undefined]);
  });
  ask(session, 'Debugger.enable');
  return found;
}

function inSource(
  { scriptId, lineNumber, columnNumber = 0 }: Debugger.Location,
  maps: Maps,
): FunctionLocation | undefined {
  const script = scripts.get(scriptId);
  if (!script) return undefined;
  const key = `${scriptId}:${lineNumber}:${columnNumber}`;
  const known = mappedPlaces.get(key);
  if (known) return known;
  const compiled = { file: fileURLToPath(script.url), line: lineNumber + 1 };
  if (script.sourceMapURL === '') return compiled;
  const place = mapped(script, lineNumber, columnNumber, maps) ?? compiled;
  mappedPlaces.set(key, place);
  return place;
}

/** The place in the source of a compiled file that names its map. */
function mapped(script: Script, line: number, column: number, maps: Maps): FunctionLocation | undefined {
  if (!maps.has(script)) maps.set(script, readSourceMap(script.sourceMapURL, script.url));
  const map = maps.get(script);
  const origin = map && originOf(map, line, column);
  // A bundler may name sources by URLs that are no files.
  return origin && tryOrUndefined(() => ({ file: fileURLToPath(origin.url), line: origin.line }));
}
