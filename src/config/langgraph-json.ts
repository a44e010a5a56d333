import { isObject, type JsonObject } from '../core/json.ts';

/** Keys of langgraph.json that only build an image (CONTRACT §14): this server has nothing to build. */
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

/** Names that langgraph.json has two spellings of. */
const SPELLINGS: Record<string, string> = { include: 'includes', exclude: 'excludes' };

/** A langgraph.json project as this server reads it: without what only builds an image, one spelling a key. */
export function fromLanggraphJson(document: JsonObject): JsonObject {
  const kept = Object.fromEntries(Object.entries(document).filter(([key]) => !BUILD_ONLY.has(key)));
  if (isObject(kept['http']))
    kept['http'] = Object.fromEntries(Object.entries(kept['http']).map(headerBlock));
  return kept;
}

function headerBlock([key, value]: [string, unknown]): [string, unknown] {
  if (!key.endsWith('_headers') || !isObject(value)) return [key, value];
  return [
    key,
    Object.fromEntries(Object.entries(value).map(([name, list]) => [SPELLINGS[name] ?? name, list])),
  ];
}
