import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { App } from '../app.ts';
import { awaitLangChainCallbacks } from '../config/env.ts';
import { userModule } from '../graphs/user-module.ts';
import { serve } from '../node.ts';
import { configured } from './configured.ts';
import { explain } from './explain.ts';
import { watchEventLoop } from './loop-watch.ts';
import { withOutput } from './output.ts';
import { replacedNote } from './project-checks.ts';
import type { DevServerArguments, FromServer, ToServer } from './server-process.ts';

/** A node that blocks the event loop for so long fails, and the server restarts, ms. */
const GIVE_UP_MS = 30_000;

type Turn = Extract<ToServer, { type: 'serve' }>;

/** The program of a server process of `dev`: it is told when to serve and when to stop, and handed connections. */
async function devServer({ flags, root, note }: DevServerArguments): Promise<number> {
  const stop = new AbortController();
  const turn = Promise.withResolvers<Turn>();
  process.on('message', (message: ToServer | string) => {
    if (typeof message === 'string') return;
    if (message.type === 'serve') turn.resolve(message);
    else stop.abort();
  });
  // Without the parent nobody could reach or end this process.
  process.on('disconnect', () => stop.abort());

  awaitLangChainCallbacks();
  await warmUp(root);
  const begin = await Promise.race([turn.promise, aborted(stop.signal)]);
  if (begin === undefined) return 0;
  const { config, logger, announce, lines } = await configured(flags, { json: false, code_of: root });
  return await serve(config, {
    logger,
    stop: stop.signal,
    grace_ms: 0,
    announce: begin.greets ? announce : undefined,
    blamed: begin.blamed,
    gives_hints: true,
    onCulprit: (culprit) => writeFileSync(note, JSON.stringify(culprit)),
    watchEventLoop: (runningNode) => watchEventLoop({ lines, fatal_ms: GIVE_UP_MS, note }, runningNode),
    reach: (app) => {
      for (const [graph_id, names] of app.graphs.replaced()) logger.info(replacedNote(names), { graph_id });
      return takeConnections(app, begin.url);
    },
  });
}

/** Loads what does not change: the program, and the LangGraph of the project. That is most of what a start takes. */
async function warmUp(root: string): Promise<void> {
  await import('../app.ts');
  // Without it, the graphs say so when they load.
  await userModule(root, '@langchain/langgraph').catch(() => {});
}

/** Serves the connections that the parent accepts, in place of listening. */
async function takeConnections(app: App, url: string): Promise<string> {
  await app.server.ready();
  process.on('message', (_, socket) => {
    if (socket instanceof Socket) app.server.server.emit('connection', socket);
  });
  process.send?.({ type: 'reachable' } satisfies FromServer);
  return url;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined));
  });
}

const given: DevServerArguments = JSON.parse(process.argv[2] as string);
process.exit(await withOutput(() => devServer(given).catch(explain)));
