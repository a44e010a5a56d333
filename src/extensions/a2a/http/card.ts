import { createHash, createPublicKey } from 'node:crypto';
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';
import { systemAssistantId } from '../../../core/ids.ts';
import { isObject, type JsonObject, toJson } from '../../../core/json.ts';
import { signingKey } from '../../../core/signing-key.ts';
import { a2aMetadata, type CardData } from '../card-data.ts';
import { JWKS_PATH } from '../schemas.ts';

export const HISTORY_SCOPE = 'LangGraph-A2A-History-Scope';

const SCOPE_EXTENSION = {
  uri: 'https://langchain.com/a2a/extensions/history-scope/v1',
  description: 'Whether the history of a task has the messages of the task alone, or of its context.',
  required: false,
  params: {
    header: HISTORY_SCOPE,
    values: ['task', 'context'],
    default: 'context',
    methods: ['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask'],
  },
};

/** Files are passed through to the graph: which media types it reads depends on its models. */
const MODES = ['text/plain', 'application/json'];
const MESSAGE_MODES = [...MODES, 'image/*', 'audio/*', 'video/*', 'application/*', 'text/*'];

export interface CardContext {
  /** Whether the server sends push notifications for tasks. */
  readonly sends_push: boolean;
  /** Public base URL without a trailing slash. */
  readonly base: string;
  /** OpenAPI security schemes; empty without authentication. */
  readonly securitySchemes: Readonly<Record<string, JsonObject>>;
  readonly security: readonly Readonly<Record<string, string[]>>[];
}

export type CardForm = 'hybrid' | '1.0' | '0.3';

/** Budget for the graph's schemas, ms: clients time out after 5 s, and a card without schemas accepts every mode. */
export const SCHEMA_TIMEOUT_MS = 3_000;

/** The assistant's agent card; `hybrid` is a 0.3 card that 1.0 clients can read as well. */
export function agentCard(cardData: CardData, parts: CardContext, form: CardForm): JsonObject {
  const card = commonFields(cardData, parts);
  const url = `${parts.base}/a2a/${cardData.assistant.assistant_id}`;
  const supportedInterfaces = [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ];
  const isKnown = parts.security.length > 0;
  const capabilities = {
    streaming: true,
    pushNotifications: parts.sends_push,
    extensions: [SCOPE_EXTENSION],
  };
  if (form === '1.0') {
    return {
      ...card,
      supportedInterfaces,
      capabilities: { ...capabilities, extendedAgentCard: isKnown },
      ...(isKnown ? { securitySchemes: schemes(parts), securityRequirements: requirements(parts) } : {}),
    };
  }
  return {
    ...card,
    url,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    capabilities: { ...capabilities, stateTransitionHistory: false },
    supportsAuthenticatedExtendedCard: isKnown,
    ...(isKnown ? { securitySchemes: parts.securitySchemes, security: parts.security } : {}),
    ...(form === 'hybrid' ? { supportedInterfaces } : {}),
  };
}

/** Extended card for authenticated callers: adds the JSON Schemas of input and output. */
export function extendedAgentCard(cardData: CardData, parts: CardContext): JsonObject {
  const card = agentCard(cardData, parts, '1.0');
  const { input_schema, output_schema } = cardData.schemas;
  const capabilities = card['capabilities'] as { extensions: JsonObject[] };
  const schemas = {
    uri: 'urn:agent-server:schemas',
    description: 'Input and output of the graph, as JSON Schema.',
    required: false,
    params: { input_schema, output_schema },
  };
  return { ...card, capabilities: { ...capabilities, extensions: [...capabilities.extensions, schemas] } };
}

/** Strong ETag: a digest of the card's content. */
export function cardEtag(card: JsonObject): string {
  return `"${createHash('sha256').update(toJson(card)).digest('base64url').slice(0, 27)}"`;
}

function commonFields(cardData: CardData, { base }: CardContext): JsonObject {
  const { assistant, has_messages, input_modes, output_modes } = cardData;
  const { assistant_id, graph_id, name, description, version, metadata } = assistant;
  const said = description || `Runs the assistant ${name}.`;
  const isSystem = assistant_id === systemAssistantId(graph_id);
  const skill = {
    id: `${isSystem ? graph_id : assistant_id}-main`,
    name,
    description: said,
    tags: ['assistant', graph_id],
  };
  const customSkills = a2aMetadata(metadata)['skills'];
  return {
    name,
    description: said,
    version: String(version),
    provider: { organization: 'agent-server', url: base },
    documentationUrl: `${base}/docs`,
    defaultInputModes: input_modes ?? (has_messages ? MESSAGE_MODES : MODES),
    defaultOutputModes: output_modes ?? MODES,
    skills: Array.isArray(customSkills) && customSkills.length > 0 ? customSkills : [skill],
  };
}

/** OpenAPI security schemes in the 1.0 form; OAuth flows stay as OpenAPI describes them. */
function schemes({ securitySchemes }: CardContext): JsonObject {
  const made = Object.entries(securitySchemes).map(([name, scheme]) => [name, schemeOf(scheme)]);
  return Object.fromEntries(made.filter(([, scheme]) => scheme !== undefined));
}

function schemeOf({ type, in: location, name, description, ...rest }: JsonObject): JsonObject | undefined {
  const described = description === undefined ? {} : { description };
  if (type === 'apiKey') return { apiKeySecurityScheme: { location, name, ...described } };
  if (type === 'http') return { httpAuthSecurityScheme: { ...rest, ...described } };
  if (type === 'openIdConnect') return { openIdConnectSecurityScheme: { ...rest, ...described } };
  return type === 'oauth2' && isObject(rest['flows'])
    ? { oauth2SecurityScheme: { flows: rest['flows'], ...described } }
    : undefined;
}

function requirements({ security }: CardContext): JsonObject[] {
  return security.map((each) => ({
    schemes: Object.fromEntries(Object.entries(each).map(([name, list]) => [name, { list }])),
  }));
}

/** Signs agent cards (A2A §8.4), so that clients can detect a card modified in transit. */
export interface CardSigner {
  /** Key id: the JWK thumbprint. */
  readonly kid: string;
  /** The JSON Web Key Set that clients verify signatures with. */
  readonly keys: { readonly keys: readonly JWK[] };
  /** Returns the 1.0 card with its signature. `base`: public base URL of the server. */
  sign(card: JsonObject, base: string): Promise<JsonObject>;
}

/** `text`: the private key, already validated by the configuration. The key id is the JWK thumbprint (RFC 7638). */
export async function cardSigner(text: string): Promise<CardSigner> {
  const parsed = signingKey(text);
  if (!parsed) throw new Error('http.a2a.signing_key is not a valid key.');
  const { key, alg } = parsed;
  const jwk = await exportJWK(createPublicKey(key));
  const kid = await calculateJwkThumbprint(jwk);
  return {
    kid,
    keys: { keys: [{ ...jwk, kid, alg, use: 'sig' }] },
    async sign(card, base) {
      const sign = generateAgentCardSignature(key, { alg, kid, typ: 'JOSE', jku: base + JWKS_PATH });
      const { signatures } = AgentCard.toJSON(await sign(AgentCard.fromJSON(card))) as JsonObject;
      return { ...card, signatures };
    },
  };
}
