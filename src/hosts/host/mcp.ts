import type { RegisterCustomTools } from '../../http/mcp/custom-tools.ts';
import type { HostMethods } from '../protocol/messages.ts';
import type { Handlers } from '../protocol/peer.ts';
import type { ServerConnection } from './connection.ts';
import type { McpSession } from './mcp-session.ts';

type Names = Extract<keyof HostMethods, `mcp/${string}`>;

/** Handlers for what the project has registered with MCP servers: each of them serves one request of a client. */
export function mcpHandlers(
  server: () => ServerConnection,
  register: () => RegisterCustomTools,
): Pick<Handlers<HostMethods>, Names> {
  const sessions = new Map<number, McpSession>();
  const find = (id: number) => {
    const session = sessions.get(id);
    if (!session) throw new Error('The MCP request has ended.');
    return session;
  };

  return {
    async 'mcp/open'({ session: id, ...request }) {
      // Only if the project has tools: the SDK takes 34 MB.
      const { openMcpSession } = await import('./mcp-session.ts');
      const session = await openMcpSession(request, register(), (request_id, notification) =>
        server().notify('mcp/notify', {
          session: id,
          request_id,
          notification: JSON.stringify(notification),
        }),
      );
      sessions.set(id, session);
      return session.registered;
    },
    async 'mcp/request'({ session, message, auth_info }) {
      return { json: JSON.stringify(await find(session).request(JSON.parse(message), parsed(auth_info))) };
    },
    async 'mcp/scope_challenge'({ session, message, auth_info }) {
      const challenge = await find(session).scopeChallenge(JSON.parse(message), parsed(auth_info));
      return { json: JSON.stringify(challenge ?? null) };
    },
    'mcp/close'({ session: id }) {
      sessions.get(id)?.close();
      sessions.delete(id);
    },
  };
}

function parsed<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
