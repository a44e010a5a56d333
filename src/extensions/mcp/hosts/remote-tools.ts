import {
  type AuthInfo,
  type JSONRPCNotification,
  type JSONRPCResponse,
  type McpServer,
  ProtocolError,
  type RequestId,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Logger } from '../../../core/logger.ts';
import { withDeadline } from '../../../core/timers.ts';
import { type Asking, askHost, HANDLER_LIMITS, untilLost } from '../../../hosts/pool/ask.ts';
import type { Host } from '../../../hosts/pool/host.ts';
import type { Params, Result } from '../../../hosts/protocol/messages.ts';
import type { Handlers, Peer } from '../../../hosts/protocol/peer.ts';
import type { CustomTools, ExtendMcpServer, ServedRequest } from '../custom-tools.ts';
import { HOST_METHODS, type HostMethods, SERVER_METHODS, type ServerMethods } from './messages.ts';

/**
 * Has a host run the project's function, once per request, and forwards to it what the function registers. A handler
 * may take as long as it likes, but not longer than its host lives.
 */
export function remoteTools(asking: Asking): ExtendMcpServer {
  const connections = new WeakMap<Host, Connection>();
  const connectionTo = (host: Host) => {
    const connection = connections.get(host) ?? connect(host, asking.logger);
    connections.set(host, connection);
    return connection;
  };
  return async (mcp, served) => {
    const params = await openParams(served);
    const open = (host: Host) => openSession(host, connectionTo(host), params, served.request.signal);
    const session = await askHost(asking, 'The function of mcp.app', open, HANDLER_LIMITS);
    forwardMethods(mcp, session);
    return toolsOf(session);
  };
}

type OpenParams = Omit<Params<HostMethods, 'mcp/open'>, 'session'>;

async function openParams({ request, auth, revision, tool_name }: ServedRequest): Promise<OpenParams> {
  return {
    method: request.method,
    url: request.url,
    headers: [...request.headers],
    body: await request.clone().text(),
    user: JSON.stringify(auth),
    revision,
    tool_name,
  };
}

/** The connection to a host, extended by the messages of MCP. */
interface Connection {
  readonly peer: Peer<ServerMethods, HostMethods>;
  /** Pending requests to the host, by session and by the client's request id. */
  readonly sessions: Map<number, Map<RequestId, Call>>;
}

function connect(host: Host, logger: Logger): Connection {
  const sessions: Connection['sessions'] = new Map();
  const handlers: Handlers<ServerMethods> = {
    'mcp/notify'({ session, request_id, notification }) {
      const call = sessions.get(session)?.get(request_id);
      if (call) notifyClient(call, JSON.parse(notification), logger);
    },
  };
  const peer = host.peer.extend({ ours: SERVER_METHODS, theirs: HOST_METHODS, handlers });
  return { peer, sessions };
}

/** A host's session for one client request, with what the project has registered for it. */
interface Session {
  readonly host: Host;
  readonly peer: Connection['peer'];
  readonly id: number;
  readonly registered: Result<HostMethods, 'mcp/open'>;
  /** Pending requests to the host, by the client's request id. */
  readonly calls: Map<RequestId, Call>;
}

interface Call {
  readonly ctx: ServerContext;
  /** Resolves when all notifications so far have been sent to the client. */
  notified: Promise<void>;
}

/** Ends when `signal` aborts. */
async function openSession(
  host: Host,
  { peer, sessions }: Connection,
  params: OpenParams,
  signal: AbortSignal,
): Promise<Session> {
  const calls: Session['calls'] = new Map();
  const session = host.sessions.open({});
  sessions.set(session.id, calls);
  const close = () => {
    // No caller is waiting for them any longer.
    if (calls.size > 0) host.giveUp();
    peer.notify('mcp/close', { session: session.id });
    sessions.delete(session.id);
    session[Symbol.dispose]();
  };
  try {
    const registered = await peer.request('mcp/open', { session: session.id, ...params });
    return { host, peer, id: session.id, registered, calls };
  } finally {
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
  }
}

function notifyClient(call: Call, notification: JSONRPCNotification, logger: Logger): void {
  const { method, params } = notification;
  const sent = call.ctx.mcpReq.notify({ method, ...(params && { params }) }).catch((error: unknown) => {
    logger.debug('cannot send a notification to an MCP client', { error });
  });
  call.notified = Promise.all([call.notified, sent]).then(() => {});
}

/** Params of a client's request, without the members that only the SDK reads. */
interface Asked {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** Accepts everything: the host validates. */
const ANY = {
  '~standard': { version: 1, vendor: 'agent-server', validate: (value: unknown) => ({ value }) },
} as const;

/** Makes the MCP server forward everything that the project handles, except its tools. */
function forwardMethods({ server }: McpServer, session: Session): void {
  const { methods, capabilities } = session.registered;
  server.registerCapabilities(JSON.parse(capabilities) as ServerCapabilities);
  for (const { method, is_spec } of methods) {
    if (method === 'tools/list' || method === 'tools/call') continue;
    if (is_spec) server.setRequestHandler(method as 'ping', (asked, ctx) => forward(session, asked, ctx));
    else {
      server.setRequestHandler(method, { params: ANY }, (params, ctx) =>
        forward(session, { method, params: params as Asked['params'] }, ctx),
      );
    }
  }
}

function toolsOf(session: Session): CustomTools {
  const { host, peer, id, registered } = session;
  const { methods, input_schema } = registered;
  const hasTools = methods.some(({ method }) => method === 'tools/list');
  return {
    async list(asked, ctx) {
      if (!hasTools) return [];
      const { method, params } = asked as Asked;
      const list = { method: 'tools/list', ...(method === 'tools/list' && { params }) };
      return (await forward(session, list, ctx as ServerContext))['tools'] as { name: string }[];
    },
    call: (asked, ctx) => forward(session, asked as Asked, ctx as ServerContext),
    remote: {
      input_schema: input_schema === undefined ? undefined : JSON.parse(input_schema),
      async scopeChallenge({ request, authInfo }) {
        const params = { session: id, message: JSON.stringify(request), ...authInfoOf(authInfo) };
        const asked = untilLost(host, peer.request('mcp/scope_challenge', params));
        return JSON.parse((await withDeadline(HANDLER_LIMITS.limit_ms, asked)).json) ?? undefined;
      },
    },
  };
}

/** Forwards a client's request to the host unchanged. Throws the error of the project's handler. */
async function forward(
  { host, peer, id: session, calls }: Session,
  { method, params }: Asked,
  ctx: ServerContext,
): Promise<Record<string, unknown>> {
  const { mcpReq, http } = ctx;
  const message = { jsonrpc: '2.0', id: mcpReq.id, method, params: { ...params, ...liftedFrom(mcpReq) } };
  const call: Call = { ctx, notified: Promise.resolve() };
  calls.set(mcpReq.id, call);
  try {
    const sent = { session, message: JSON.stringify(message), ...authInfoOf(http?.authInfo) };
    const { json } = await untilLost(host, peer.request('mcp/request', sent));
    await call.notified;
    return resultIn(JSON.parse(json));
  } finally {
    calls.delete(mcpReq.id);
  }
}

/** Members that the SDK removes from the params before a handler sees them. */
function liftedFrom({
  _meta,
  envelope,
  inputResponses,
  droppedInputResponseKeys = [],
}: ServerContext['mcpReq']) {
  const dropped = droppedInputResponseKeys.map((key) => [key, null]);
  return {
    ...((_meta || envelope) && { _meta: { ..._meta, ...envelope } }),
    ...(inputResponses && { inputResponses: { ...inputResponses, ...Object.fromEntries(dropped) } }),
  };
}

/** Without `extra`, which is the server's own. */
function authInfoOf(authInfo: AuthInfo | undefined): { auth_info?: string } {
  if (!authInfo) return {};
  const { extra: _, ...info } = authInfo;
  return { auth_info: JSON.stringify(info) };
}

/** The SDK adds this marker of a complete result again. */
function resultIn(response: JSONRPCResponse): Record<string, unknown> {
  if ('error' in response) {
    const { code, message, data } = response.error;
    throw new ProtocolError(code, message, data);
  }
  const { resultType, ...result } = response.result;
  return resultType === 'complete' ? result : response.result;
}
