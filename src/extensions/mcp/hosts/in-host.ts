import type { Handlers, Peer } from '../../../hosts/protocol/peer.ts';
import type { HostPart } from '../../extension.ts';
import { importRegistration, type RegisterCustomTools } from '../custom-tools.ts';
import { HOST_METHODS, type HostMethods, SERVER_METHODS, type ServerMethods } from './messages.ts';
import type { McpSession } from './session.ts';

/** Imports the project's function and serves what it registers. `app`: where it is. */
export const mcpInHost: HostPart = async ({ root, server }, app) => {
  // In the background: the first request of a client would wait for the SDK.
  void import('./session.ts').catch(() => {});
  const register = importRegistration(String(app), root);
  const handlers = mcpHandlers(() => connection, register);
  const connection = server.extend({ ours: HOST_METHODS, theirs: SERVER_METHODS, handlers });
  await register;
};

/** Handlers for what the project has registered with MCP servers: each of them serves one request of a client. */
function mcpHandlers(
  server: () => Peer<HostMethods, ServerMethods>,
  register: Promise<RegisterCustomTools>,
): Handlers<HostMethods> {
  const sessions = new Map<number, McpSession>();
  const find = (id: number) => {
    const session = sessions.get(id);
    if (!session) throw new Error('The MCP request has ended.');
    return session;
  };

  return {
    async 'mcp/open'({ session: id, ...request }) {
      // Only if the project has tools: the SDK takes 34 MB.
      const { openMcpSession } = await import('./session.ts');
      const session = await openMcpSession(request, await register, (request_id, notification) =>
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
