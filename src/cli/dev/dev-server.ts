import { Socket } from 'node:net';
import type { App } from '../../app.ts';
import { disableBackgroundCallbacks } from '../../config/env.ts';
import type { Logger } from '../../core/logger.ts';
import { portOf } from '../../http/listen.ts';
import { serve } from '../../node.ts';
import { DEVELOPING_DEFAULTS, loadConfigAndOutput } from '../config.ts';
import { withOutput } from '../output.ts';
import { ignoredPersistenceNote } from '../project-checks.ts';
import { reportError } from '../report-error.ts';
import type { ChildMessage, DevServerArguments, ParentMessage } from './server-process.ts';

type ServeMessage = Extract<ParentMessage, { type: 'serve' }>;

/** Entry point of a `dev` server process: the parent sends `serve` and `stop` messages, and connections. */
async function devServer({ flags, root }: DevServerArguments): Promise<number> {
  const stop = new AbortController();
  const serveMessage = Promise.withResolvers<ServeMessage>();
  let reload = () => {};
  process.on('message', (message: ParentMessage | string) => {
    if (typeof message === 'string') return;
    if (message.type === 'serve') serveMessage.resolve(message);
    else if (message.type === 'reload') reload();
    else stop.abort();
  });
  // An orphan is unreachable.
  process.on('disconnect', () => stop.abort());

  disableBackgroundCallbacks();
  // Most of the time that a start takes.
  await Promise.all([import('../../app.ts'), import('../readable-lines.ts')]);
  const message = await Promise.race([serveMessage.promise, aborted(stop.signal)]);
  if (message === undefined) return 0;
  const { config, logger, recent_log, announce } = await loadConfigAndOutput(flags, {
    json: false,
    code_of: root,
    keys: DEVELOPING_DEFAULTS,
  });
  // The parent listens; it knows the port if the configured one is 0.
  const server = { ...config.server, port: portOf(message.url) };
  return await serve(
    { ...config, server },
    {
      logger,
      recent_log,
      stop: stop.signal,
      grace_ms: 0,
      announce: message.shows_banner ? announce : undefined,
      gives_hints: true,
      makeReachable: (app) => {
        void noteIgnoredPersistence(app, logger);
        reload = reloader(app, logger, stop.signal);
        return takeConnections(app, message.url);
      },
    },
  );
}

/** What the graphs bring and the server replaces, as soon as they are loaded. */
async function noteIgnoredPersistence(app: App, logger: Logger): Promise<void> {
  // A project that fails to load is reported by its graphs.
  await app.loaded().catch(() => {});
  for (const [graph_id, names] of app.graphs.overriddenMemory())
    logger.info(ignoredPersistenceNote(names), { graph_id });
}

/** Loads each change of the project's code in graph hosts: a newer one aborts a load that is in progress. */
function reloader(app: App, logger: Logger, stop: AbortSignal): () => void {
  let newer = new AbortController();
  return () => {
    newer.abort();
    newer = new AbortController();
    reloadProject(app, logger, AbortSignal.any([newer.signal, stop])).catch((error: unknown) =>
      logger.error('cannot load the change; the previous code keeps running', { error }),
    );
  };
}

async function reloadProject(app: App, logger: Logger, signal: AbortSignal): Promise<void> {
  const result = await app.reload?.(signal);
  if (result === 'loaded') logger.info('change loaded');
  if (result === 'needs_restart') toParent({ type: 'needs_restart' });
}

/** A parent that has exited needs no message. */
function toParent(message: ChildMessage): void {
  process.send?.(message, () => {});
}

/** Serves the connections that the parent accepts, instead of listening. */
async function takeConnections(app: App, url: string): Promise<string> {
  await app.server.ready();
  process.on('message', (_, socket) => {
    if (socket instanceof Socket) app.server.server.emit('connection', socket);
  });
  toParent({ type: 'reachable', reloads: app.reload !== undefined });
  return url;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined));
  });
}

const given: DevServerArguments = JSON.parse(process.argv[2] as string);
process.exit(await withOutput(() => devServer(given).catch(reportError)));
