import { isObject, type JsonObject } from '../../../core/json.ts';

/**
 * Normalizes parameters to the form of their version. Clients mix both versions, and each mix is unambiguous: parts
 * with or without `kind`, `file` or `raw`, roles in either spelling, names in camelCase or snake_case.
 */
export function normalizeParams(params: unknown, version: '0.3' | '1.0'): unknown {
  if (!isObject(params)) return params;
  const known = withPushConfig(inCamelCase(params), version);
  const { message, configuration } = known;
  return {
    ...known,
    ...(isObject(message) ? { message: messageOf(inCamelCase(message), version) } : {}),
    ...(isObject(configuration)
      ? { configuration: configurationOf(inCamelCase(configuration), version) }
      : {}),
  };
}

function inCamelCase(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

/** Blocking by default in both versions. */
function configurationOf(configuration: JsonObject, version: '0.3' | '1.0'): JsonObject {
  const { blocking, returnImmediately, pushNotificationConfig, taskPushNotificationConfig, ...others } =
    configuration;
  const waits = typeof blocking === 'boolean' ? blocking : returnImmediately !== true;
  const subscriber = taskPushNotificationConfig ?? pushNotificationConfig;
  const pushConfig = isObject(subscriber) ? pushConfigOf(subscriber, version) : undefined;
  return version === '0.3'
    ? { ...others, blocking: waits, ...(pushConfig && { pushNotificationConfig: pushConfig }) }
    : { ...others, returnImmediately: !waits, ...(pushConfig && { taskPushNotificationConfig: pushConfig }) };
}

/** The push notification config is a field of the parameters in 0.3, and the parameters themselves in 1.0. */
function withPushConfig(params: JsonObject, version: '0.3' | '1.0'): JsonObject {
  const { pushNotificationConfig, ...others } = params;
  if (pushNotificationConfig === undefined && others['url'] === undefined) return params;
  const subscriber = isObject(pushNotificationConfig) ? pushNotificationConfig : others;
  const pushConfig = pushConfigOf(subscriber, version);
  if (version === '1.0') return { ...others, ...pushConfig };
  const { id, url, token, authentication } = pushConfig;
  return { taskId: others['taskId'], pushNotificationConfig: { id, url, token, authentication } };
}

/** Authentication schemes: 0.3 has a list and the first one counts; 1.0 has one. */
function pushConfigOf(config: JsonObject, version: '0.3' | '1.0'): JsonObject {
  const { authentication } = config;
  if (!isObject(authentication)) return config;
  const { scheme, schemes, ...others } = authentication;
  const named = (Array.isArray(schemes) ? schemes : [scheme])
    .slice(0, 1)
    .filter((each) => each !== undefined);
  return {
    ...config,
    authentication: version === '0.3' ? { ...others, schemes: named } : { ...others, scheme: named[0] },
  };
}

function messageOf(message: JsonObject, version: '0.3' | '1.0'): JsonObject {
  const { role, parts, metadata } = message;
  return {
    ...message,
    role: roleOf(role, version),
    ...(metadata === null && { metadata: undefined }),
    ...(Array.isArray(parts) ? { parts: parts.map((part) => partOf(part, version)) } : {}),
  };
}

function roleOf(role: unknown, version: '0.3' | '1.0'): unknown {
  const name = typeof role === 'string' ? role.replace(/^ROLE_/, '').toLowerCase() : role;
  if (name !== 'user' && name !== 'agent') return role;
  return version === '0.3' ? name : `ROLE_${name.toUpperCase()}`;
}

function partOf(part: unknown, version: '0.3' | '1.0'): unknown {
  if (!isObject(part)) return part;
  const { kind, file, ...rest } = inCamelCase(part);
  const { text, data, raw, url, mediaType, filename, ...others } = rest;
  if (version === '1.0') return isObject(file) ? { ...rest, ...flat(inCamelCase(file)) } : rest;
  if (typeof text === 'string') return { kind: 'text', text, ...others };
  if (data !== undefined) return { kind: 'data', data, ...others };
  if (isObject(file)) return { kind: 'file', file: inCamelCase(file), ...others };
  const named = { ...(filename ? { name: filename } : {}), ...(mediaType ? { mimeType: mediaType } : {}) };
  if (raw !== undefined) return { kind: 'file', file: { bytes: raw, ...named }, ...others };
  if (url !== undefined) return { kind: 'file', file: { uri: url, ...named }, ...others };
  return part;
}

function flat({ bytes, uri, name, mimeType }: JsonObject): JsonObject {
  return {
    ...(bytes === undefined ? { url: uri } : { raw: bytes }),
    ...(name === undefined ? {} : { filename: name }),
    ...(mimeType === undefined ? {} : { mediaType: mimeType }),
  };
}

/** Validates a message before parsing. Returns the problem, or `undefined` if the message is valid. */
export function invalidMessage(params: unknown): string | undefined {
  const message = isObject(params) ? params['message'] : undefined;
  if (!isObject(message)) return 'message must be an object.';
  const { messageId, role, parts } = message;
  if (typeof messageId !== 'string' || messageId.trim() === '')
    return 'message.messageId must be a non-empty string.';
  if (!['user', 'agent', 'ROLE_USER', 'ROLE_AGENT'].includes(String(role)))
    return 'message.role must be user or agent (1.0: ROLE_USER or ROLE_AGENT).';
  if (!Array.isArray(parts) || parts.length === 0) return 'message.parts needs at least one part.';
  if (!parts.every(hasContent))
    return 'Each part of message.parts must be an object with text, data, raw or url (0.3: text, data or file).';
  return parts.every(isReadable) ? undefined : 'message.parts: raw content must be base64.';
}

/** Validates a message of 0.3 like `invalidMessage`, and the types of optional fields, which only 1.0 converts. */
export function invalidLegacyMessage(params: unknown): string | undefined {
  const problem = invalidMessage(params);
  if (problem !== undefined || !isObject(params)) return problem;
  const { message, configuration } = params;
  const { contextId, extensions, referenceTaskIds } = isObject(message) ? message : {};
  const { acceptedOutputModes } = isObject(configuration) ? configuration : {};
  if (typeof (contextId ?? '') !== 'string') return 'message.contextId must be a string.';
  if (!Array.isArray(extensions ?? [])) return 'message.extensions must be a list.';
  if (!Array.isArray(referenceTaskIds ?? [])) return 'message.referenceTaskIds must be a list.';
  return Array.isArray(acceptedOutputModes ?? [])
    ? undefined
    : 'configuration.acceptedOutputModes must be a list.';
}

const BASE64 = /^[\w+/-]*={0,2}$/;

function isReadable(part: JsonObject): boolean {
  const { raw = isObject(part['file']) ? part['file']['bytes'] : undefined } = part;
  return raw === undefined || (typeof raw === 'string' && BASE64.test(raw));
}

/** Validates the parameters of a push notification config, like `invalidMessage`. */
export function invalidPushConfig(params: unknown): string | undefined {
  const { taskId, pushNotificationConfig } = isObject(params) ? params : {};
  if (typeof taskId !== 'string') return 'taskId must be a string.';
  return isObject(pushNotificationConfig)
    ? undefined
    : 'pushNotificationConfig must be an object with a url.';
}

function hasContent(part: unknown): boolean {
  if (!isObject(part)) return false;
  if ('text' in part) return typeof part['text'] === 'string';
  return ['data', 'raw', 'url', 'file'].some((name) => part[name] !== undefined && part[name] !== null);
}
