import type { JsonObject } from '../core/json.ts';

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

/** A langgraph.json project as this server reads it: without what only builds an image. */
export function fromLanggraphJson(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([key]) => !BUILD_ONLY.has(key)));
}
