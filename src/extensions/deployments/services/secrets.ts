import { InvalidInput } from '../../../core/errors.ts';
import type { DeploymentSecret } from '../schemas/deployments.ts';

/** Shown in place of a value; a client that sends it keeps the stored value. */
export const MASKED = '********';

/** Names that LangSmith Deployment reserves, and names that configure this server. */
const RESERVED = [
  'DATABASE_URI',
  'LANGCHAIN_CALLBACKS_BACKGROUND',
  'LANGCHAIN_ENDPOINT',
  'LANGGRAPH_AES_KEY',
  'LANGGRAPH_AUTH',
  'LANGGRAPH_AUTH_TYPE',
  'LANGGRAPH_CLOUD_LICENSE_KEY',
  'LANGGRAPH_ENCRYPTION',
  'LANGGRAPH_HTTP',
  'LANGSMITH_AUTH_ENDPOINT',
  'LANGSMITH_AUTH_VERIFY_TENANT_ID',
  'LANGSMITH_CONTROL_PLANE_API_KEY',
  'LANGSMITH_DEPLOYMENT_NAME',
  'LANGSMITH_HOST_PROJECT_ID',
  'LANGSMITH_HOST_PROJECT_NAME',
  'LANGSMITH_HOST_REVISION_ID',
  'LANGSMITH_LANGGRAPH_GIT_REF',
  'LANGSMITH_LANGGRAPH_GIT_REF_SHA',
  'LANGSMITH_LANGGRAPH_GIT_REPO',
  'LANGSMITH_TENANT_ID',
  'LOG_DICT_TRACEBACKS',
  'LOG_JSON',
  'MOUNT_PREFIX',
  'PORT',
  'POSTGRES_PASSWORD',
  'POSTGRES_URI',
  'POSTGRES_URI_CUSTOM',
  'REDIS_URI',
  'REDIS_URI_CUSTOM',
];
const RESERVED_PREFIX = 'AGENT_SERVER_';

/** Throws `InvalidInput` that names the reserved or repeated names. */
export function checkNames(secrets: readonly DeploymentSecret[]): void {
  const reserved = secrets.map(({ name }) => name).filter(isReserved);
  if (reserved.length > 0) {
    const all = [...RESERVED, `${RESERVED_PREFIX}*`].join(', ');
    throw new InvalidInput(
      `secrets: ${reserved.join(', ')} cannot be set. These names are reserved: ${all}.`,
    );
  }
  const repeated = secrets.find(({ name }, at) => secrets.findIndex((other) => other.name === name) !== at);
  if (repeated) throw new InvalidInput(`secrets: ${repeated.name} is given twice`);
}

function isReserved(name: string): boolean {
  return RESERVED.includes(name) || name.startsWith(RESERVED_PREFIX);
}

/** Replaces masked values by the stored ones. Throws `InvalidInput` for a masked value that is not stored. */
export function unmasked(
  given: readonly DeploymentSecret[],
  stored: readonly DeploymentSecret[],
): DeploymentSecret[] {
  return given.map(({ name, value }) => {
    if (value !== MASKED) return { name, value };
    const known = stored.find((secret) => secret.name === name);
    if (!known)
      throw new InvalidInput(`secrets: ${name} is not stored yet: send its value instead of ${MASKED}`);
    return known;
  });
}
