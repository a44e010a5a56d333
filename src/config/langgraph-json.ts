import { didYouMean } from '../core/did-you-mean.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { ConfigFile } from './config-file.ts';

/** Keys of langgraph.json that only matter for building an image (contract §14). */
const BUILD_ONLY = new Set([
  '$schema',
  '_INTERNAL_docker_tag',
  'api_version',
  'base_image',
  'dependencies',
  'docker_compose_file',
  'dockerfile_lines',
  'image_distro',
  'keep_pkg_tools',
  'node_loader',
  'node_version',
  'pip_config_file',
  'pip_installer',
  'python_version',
  'source',
]);

/** Without the keys of a langgraph.json that only matter for building an image. */
export function withoutBuildKeys(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([key]) => !BUILD_ONLY.has(key)));
}

/**
 * Top-level keys of a langgraph.json that neither this server nor the official one reads, such as `name`, `version` and
 * `build_command`. A key that looks like a misspelt one is not among them: without `auth`, anyone could call the server.
 */
export function ignoredKeys(document: JsonObject): string[] {
  const known = Object.keys(ConfigFile.shape);
  const isMisspelt = (key: string) => didYouMean(key, known, key.length > 6 ? 2 : 1) !== undefined;
  return Object.keys(document).filter(
    (key) => !known.includes(key) && !BUILD_ONLY.has(key) && !isMisspelt(key),
  );
}

function withoutUndefined(keys: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

/** `include` and `exclude` are aliases of `includes` and `excludes` (contract §3). */
export function withHeaderLists(http: JsonObject): JsonObject {
  const lists = ['configurable_headers', 'logging_headers'].flatMap((key) => {
    const { include, exclude, ...given } = isObject(http[key]) ? http[key] : {};
    if (include === undefined && exclude === undefined) return [];
    return [[key, { ...withoutUndefined({ includes: include, excludes: exclude }), ...given }]];
  });
  return { ...http, ...Object.fromEntries(lists) };
}
