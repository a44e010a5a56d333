import type { AppParts, Method, OpenedApp } from './app-parts.ts';
import { hasProcesses } from './processes.ts';

/**
 * The whole server in the test's own process, on an empty database, with some graphs of the fixtures. It executes
 * runs; requests go in without a socket. With `TEST_PROCESSES=1` it is several processes, if the test needs no single
 * one.
 */
export async function openApp(parts: AppParts) {
  const opened = await openParts(parts);

  async function send(method: Method, url: string, payload?: unknown, headers: Record<string, string> = {}) {
    const answer = await opened.request({
      method,
      url,
      headers: { ...(payload === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(payload === undefined
        ? {}
        : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
    });
    const isJson = answer.text !== '' && String(answer.headers['content-type']).includes('json');
    return { ...answer, body: isJson ? JSON.parse(answer.text) : undefined };
  }

  return {
    app: opened.app,
    log: opened.log,
    send,
    get: (url: string, headers?: Record<string, string>) => send('GET', url, undefined, headers),
    post: (url: string, payload?: unknown, headers?: Record<string, string>) =>
      send('POST', url, payload, headers),
    patch: (url: string, payload: unknown, headers?: Record<string, string>) =>
      send('PATCH', url, payload, headers),
    delete: (url: string) => send('DELETE', url),
    /** A new thread's id. */
    async thread(payload: object = {}): Promise<string> {
      return (await send('POST', '/threads', payload)).body.thread_id;
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** What cannot be given to another process. */
function whyOneProcess({ one_process, clock, gives_hints, server }: AppParts): string | undefined {
  if (clock) return 'a clock of its own';
  if (gives_hints !== undefined) return 'hints, which only `dev` gives';
  return server?.role ? 'a role of its own' : one_process;
}

/** Loads only what is needed: the sources of the server take a test file seconds. */
async function openParts(parts: AppParts): Promise<OpenedApp> {
  if (hasProcesses({ env: parts.environment, one_process: whyOneProcess(parts) })) {
    const { openAppOfProcesses } = await import('./app-of-processes.ts');
    return openAppOfProcesses(parts);
  }
  const { openInProcess } = await import('./app-in-process.ts');
  return openInProcess(parts);
}
