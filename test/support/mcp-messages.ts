import type { openApp } from './app.ts';

type Server = Pick<Awaited<ReturnType<typeof openApp>>, 'post'>;

const REVISION = '2026-07-28';

interface Said {
  readonly capabilities?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request as clients of the revision 2026-07-28 do, which say in each who they are: by hand, to be wrong too. */
export async function askModern(
  server: Server,
  method: string,
  params: Readonly<Record<string, unknown>>,
  { capabilities = {}, headers = {} }: Said = {},
) {
  const { name, _meta = {} } = params;
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(_meta as object),
  };
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } };
  const { status, body } = await server.post('/mcp', message, {
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    ...headers,
  });
  return { status, result: body.result, error: body.error };
}

/** Sends a request as clients of the older revisions do. */
export async function askLegacy(
  server: Server,
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
) {
  const { status, body } = await server.post('/mcp', { jsonrpc: '2.0', id: 1, method, params }, headers);
  return { status, result: body.result, error: body.error };
}
