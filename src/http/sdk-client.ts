/** Globals that the official SDK client reads when it is created without a URL. */
const FETCH_SYMBOL = Symbol.for('langgraph_api:fetch');
const URL_SYMBOL = Symbol.for('langgraph_api:url');

/**
 * Binds `new Client()` in project code to the server that `fetchFromServer` reaches, until disposed. With several servers
 * in one process, the newest wins.
 */
export function bindClient(fetchFromServer: typeof fetch, mount_prefix = ''): Disposable {
  const globals = globalThis as { [FETCH_SYMBOL]?: typeof fetch; [URL_SYMBOL]?: string };
  globals[FETCH_SYMBOL] = fetchFromServer;
  globals[URL_SYMBOL] = `http://localhost${mount_prefix}`;
  return {
    [Symbol.dispose]() {
      if (globals[FETCH_SYMBOL] !== fetchFromServer) return;
      delete globals[FETCH_SYMBOL];
      delete globals[URL_SYMBOL];
    },
  };
}
