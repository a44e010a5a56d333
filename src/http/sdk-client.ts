import { CRON_OF_RUN_HEADER, cronOfRun } from '../core/cron-of-run.ts';

/** Globals that the official SDK client reads when it is created without a URL. */
const FETCH_SYMBOL = Symbol.for('langgraph_api:fetch');
const URL_SYMBOL = Symbol.for('langgraph_api:url');

/**
 * Binds `new Client()` in project code to the server that `fetchFromServer` reaches, until disposed. With several servers
 * in one process, the newest wins.
 */
export function bindClient(fetchFromServer: typeof fetch, mount_prefix = ''): Disposable {
  const globals = globalThis as { [FETCH_SYMBOL]?: typeof fetch; [URL_SYMBOL]?: string };
  const bound = fromRuns(fetchFromServer);
  globals[FETCH_SYMBOL] = bound;
  globals[URL_SYMBOL] = `http://localhost${mount_prefix}`;
  return {
    [Symbol.dispose]() {
      if (globals[FETCH_SYMBOL] !== bound) return;
      delete globals[FETCH_SYMBOL];
      delete globals[URL_SYMBOL];
    },
  };
}

/** Names the cron of a run that sends a request: the server counts the crons that runs of crons create. */
function fromRuns(fetchFromServer: typeof fetch): typeof fetch {
  return (input, init) => {
    const cron_id = cronOfRun();
    if (cron_id === undefined) return fetchFromServer(input, init);
    const request = new Request(input, init);
    request.headers.set(CRON_OF_RUN_HEADER, cron_id);
    return fetchFromServer(request);
  };
}
