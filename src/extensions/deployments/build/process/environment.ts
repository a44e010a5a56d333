import { dirname } from 'node:path';
import { DEFAULT_PATH } from './tools.ts';

/** Allowlist of server variables that git and builds inherit: network access and locale. */
const ALLOWED = [
  'LANG',
  'LC_ALL',
  'TZ',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NPM_CONFIG_REGISTRY',
  'npm_config_registry',
];

type Environment = Record<string, string>;

/** The part of the server's environment that child processes inherit. `node`: the binary that will run the graphs. */
export function allowedEnvironment(env: NodeJS.ProcessEnv = {}): Environment {
  const allowed = ALLOWED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return { ...Object.fromEntries(allowed), PATH: searchPath(env) };
}

/** First in `PATH`: native modules must be compiled for the Node version that loads them. */
function searchPath(env: NodeJS.ProcessEnv): string {
  return `${dirname(process.execPath)}:${env['PATH'] || DEFAULT_PATH}`;
}
