import {
  type AuthInfo,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJSONRPCNotification,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  McpServer,
  type MessageClassification,
  type MessageExtraInfo,
  PerRequestHTTPServerTransport,
  type RequestId,
  type ScopeChallenge,
  SUPPORTED_PROTOCOL_VERSIONS,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { VERSION } from '../../../config/version.ts';
import type { Params, Result } from '../../../hosts/protocol/messages.ts';
import { interceptHandlers, type RegisterCustomTools } from '../custom-tools.ts';
import { SERVER_OPTIONS, serverInfo } from '../server-options.ts';
import type { HostMethods } from './messages.ts';

/** An MCP server with what the project has registered for one request of a client. */
export interface McpSession {
  readonly registered: Result<HostMethods, 'mcp/open'>;
  /** Rejects with what a handler of the project throws, unless that is an error of JSON-RPC. */
  request(message: JSONRPCRequest, authInfo: AuthInfo | undefined): Promise<JSONRPCResponse>;
  scopeChallenge(
    request: JSONRPCRequest,
    authInfo: AuthInfo | undefined,
  ): Promise<ScopeChallenge | undefined>;
  close(): void;
}

type Notify = (request_id: RequestId, notification: JSONRPCNotification) => void;

/** Calls `register` with a server that speaks the revision of the request. Rejects with what it throws. */
export async function openMcpSession(
  { url, method, headers, body, user, revision, tool_name }: Omit<Params<HostMethods, 'mcp/open'>, 'session'>,
  register: RegisterCustomTools,
  notify: Notify,
): Promise<McpSession> {
  const ended = new AbortController();
  const request = new Request(url, { method, headers, body, signal: ended.signal });
  const mcp = new McpServer(serverInfo(VERSION), {
    ...SERVER_OPTIONS,
    supportedProtocolVersions: [...SUPPORTED_PROTOCOL_VERSIONS, ...(revision ? [revision] : [])],
  });
  const classification: MessageClassification = revision ? { era: 'modern', revision } : { era: 'legacy' };
  const transport = new SessionTransport(classification, notify);
  const methods = await registeredMethods(mcp, transport, () =>
    register(mcp, { request, auth: JSON.parse(user) }),
  );
  await mcp.connect(transport);
  const input_schema = tool_name === undefined ? undefined : mcp.toolInputSchemaJson(tool_name);
  return {
    registered: {
      methods,
      capabilities: JSON.stringify(mcp.server.getCapabilities()),
      ...(input_schema && { input_schema: JSON.stringify(input_schema) }),
    },

    async request(message, authInfo) {
      if (revision !== undefined) nameClient(mcp, message);
      return await transport.call(message, { classification, request, ...(authInfo && { authInfo }) });
    },

    async scopeChallenge(message, authInfo) {
      return await mcp.resolveScopeChallenge({ request: message, ...(authInfo && { authInfo }) });
    },

    close() {
      ended.abort();
      // As in the server: handlers hear of it only with the revisions that can cancel a request this way.
      if (revision !== undefined) void transport.close();
    },
  };
}

async function registeredMethods(
  mcp: McpServer,
  transport: SessionTransport,
  register: () => unknown,
): Promise<McpSession['registered']['methods']> {
  const methods = new Map<string, boolean>();
  await interceptHandlers(mcp, register, (method, handler, is_spec) => {
    methods.set(method, is_spec);
    return async (request, ctx) => {
      try {
        return await handler(request, ctx);
      } catch (error) {
        const { mcpReq } = ctx as { mcpReq: { id: RequestId } };
        if (!hasErrorCode(error)) transport.fail(mcpReq.id, error);
        throw error;
      }
    };
  });
  return [...methods].map(([method, is_spec]) => ({ method, is_spec }));
}

/** Whether it is an error of JSON-RPC: others are internal, and a response would lose their class and stack. */
function hasErrorCode(error: unknown): boolean {
  return Number.isSafeInteger((error as { code?: unknown } | undefined)?.code);
}

/** Clients of these revisions say in each request who they are. */
function nameClient({ server }: McpServer, { params }: JSONRPCRequest): void {
  const meta = params?._meta as Record<string, unknown> | undefined;
  server.getClientCapabilities = () =>
    meta?.[CLIENT_CAPABILITIES_META_KEY] as ReturnType<typeof server.getClientCapabilities>;
  server.getClientVersion = () => meta?.[CLIENT_INFO_META_KEY] as ReturnType<typeof server.getClientVersion>;
}

/** Exchanges the messages of one request of a client with the server. */
class SessionTransport extends PerRequestHTTPServerTransport {
  readonly #notify: Notify;
  readonly #calls = new Map<RequestId, PromiseWithResolvers<JSONRPCResponse>>();

  /** A revision in `classification` is what the MCP server then speaks. */
  constructor(classification: MessageClassification, notify: Notify) {
    super({ classification });
    this.#notify = notify;
  }

  async call(message: JSONRPCRequest, extra: MessageExtraInfo): Promise<JSONRPCResponse> {
    const { id } = message;
    if (this.#calls.has(id)) throw new Error(`Two requests have the id ${id}.`);
    const call = Promise.withResolvers<JSONRPCResponse>();
    this.#calls.set(id, call);
    this.onmessage?.(message, extra);
    try {
      return await call.promise;
    } finally {
      this.#calls.delete(id);
    }
  }

  fail(id: RequestId, error: unknown): void {
    this.#calls.get(id)?.reject(error);
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isJSONRPCResponse(message)) {
      if (message.id !== undefined) this.#calls.get(message.id)?.resolve(message);
    } else if (isJSONRPCNotification(message)) {
      // Without a request it has no stream to go to.
      if (options?.relatedRequestId !== undefined) this.#notify(options.relatedRequestId, message);
    } else {
      throw new Error(
        'A stateless server cannot send requests to its client: return inputRequired() instead.',
      );
    }
  }

  override async close(): Promise<void> {
    for (const id of this.#calls.keys()) this.fail(id, new Error('The MCP request has ended.'));
    await super.close();
  }
}
