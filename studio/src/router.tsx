import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type SearchSchemaInput,
} from '@tanstack/react-router';
import { STUDIO_PATH } from './api/base.ts';
import { Overview } from './screens/overview/overview.tsx';
import { NotFound, ScreenFailure, Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/**
 * Search parameters as text; unknown names are dropped. Filters and selections are in the address, so that every view is a
 * link. The router parses values as JSON and keeps those omitted here: `?metadata={"a":1}` is written back unchanged.
 */
function textsOf<const Name extends string>(names: readonly Name[]) {
  return (search: { [K in Name]?: unknown } & SearchSchemaInput): { [K in Name]?: string } => {
    const texts: { [K in Name]?: string } = {};
    for (const name of names) {
      const value: unknown = search[name];
      if (value !== undefined && value !== '')
        texts[name] = typeof value === 'string' ? value : JSON.stringify(value);
    }
    return texts;
  };
}

const parent = () => root;

const overview = createRoute({ getParentRoute: parent, path: '/', component: Overview });
const runs = createRoute({
  getParentRoute: parent,
  path: '/runs',
  validateSearch: textsOf(['status', 'assistant', 'metadata', 'error', 'since', 'until', 'ended']),
  component: lazyRouteComponent(() => import('./screens/runs/runs.tsx'), 'Runs'),
});
const run = createRoute({
  getParentRoute: parent,
  path: '/runs/$runId',
  validateSearch: textsOf(['tab', 'step', 'node', 'open', 'hide', 'q', 'event']),
  component: lazyRouteComponent(() => import('./screens/run/run.tsx'), 'Run'),
});
const compare = createRoute({
  getParentRoute: parent,
  path: '/compare',
  validateSearch: textsOf(['left', 'right', 'step']),
  component: lazyRouteComponent(() => import('./screens/compare/compare.tsx'), 'Compare'),
});
const threads = createRoute({
  getParentRoute: parent,
  path: '/threads',
  validateSearch: textsOf(['status', 'assistant', 'owner', 'metadata', 'values', 'find', 'sort', 'order']),
  component: lazyRouteComponent(() => import('./screens/threads/threads.tsx'), 'Threads'),
});
const thread = createRoute({
  getParentRoute: parent,
  path: '/threads/$threadId',
  validateSearch: textsOf(['tab', 'checkpoint', 'with']),
  component: lazyRouteComponent(() => import('./screens/thread/thread.tsx'), 'Thread'),
});

const chats = createRoute({
  getParentRoute: parent,
  path: '/chat',
  component: lazyRouteComponent(() => import('./screens/chat/chat-home.tsx'), 'ChatHome'),
});
const newChat = createRoute({
  getParentRoute: parent,
  path: '/chat/$assistantId',
  validateSearch: textsOf(['graph', 'stream']),
  component: lazyRouteComponent(() => import('./screens/chat/chat.tsx'), 'Chat'),
});
const chat = createRoute({
  getParentRoute: parent,
  path: '/chat/$assistantId/$threadId',
  validateSearch: textsOf(['at', 'graph', 'detail', 'stream']),
  component: lazyRouteComponent(() => import('./screens/chat/chat.tsx'), 'Chat'),
});
const inboxTexts = textsOf(['tab', 'assistant', 'owner', 'age', 'due', 'interrupt']);
/** Older links call the owner `user`. */
const inboxSearch = ({ user, ...search }: Parameters<typeof inboxTexts>[0] & { user?: unknown }) =>
  inboxTexts({ owner: user, ...search });
const inbox = createRoute({
  getParentRoute: parent,
  path: '/inbox',
  validateSearch: inboxSearch,
  component: lazyRouteComponent(() => import('./screens/inbox/inbox.tsx'), 'Inbox'),
});

const webhooks = createRoute({
  getParentRoute: parent,
  path: '/webhooks',
  validateSearch: textsOf(['status', 'url', 'run']),
  component: lazyRouteComponent(() => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
});
const delivery = createRoute({
  getParentRoute: parent,
  path: '/webhooks/$deliveryId',
  component: lazyRouteComponent(() => import('./screens/delivery/delivery.tsx'), 'Delivery'),
});
const crons = createRoute({
  getParentRoute: parent,
  path: '/crons',
  validateSearch: textsOf(['assistant', 'enabled']),
  component: lazyRouteComponent(() => import('./screens/crons/crons.tsx'), 'Crons'),
});
const cron = createRoute({
  getParentRoute: parent,
  path: '/crons/$cronId',
  component: lazyRouteComponent(() => import('./screens/cron/cron.tsx'), 'Cron'),
});
const store = createRoute({
  getParentRoute: parent,
  path: '/store',
  validateSearch: textsOf(['namespace', 'query', 'filter', 'item', 'key']),
  component: lazyRouteComponent(() => import('./screens/store/store.tsx'), 'Store'),
});
const keys = createRoute({
  getParentRoute: parent,
  path: '/keys',
  component: lazyRouteComponent(() => import('./screens/keys/keys.tsx'), 'Keys'),
});
const system = createRoute({
  getParentRoute: parent,
  path: '/system',
  validateSearch: textsOf(['log', 'level', 'assistant', 'run']),
  component: lazyRouteComponent(() => import('./screens/system/system.tsx'), 'System'),
});
const usage = createRoute({
  getParentRoute: parent,
  path: '/usage',
  validateSearch: textsOf(['tab', 'days', 'assistant', 'model', 'user', 'key']),
  component: lazyRouteComponent(() => import('./screens/usage/usage.tsx'), 'Usage'),
});
const connect = createRoute({
  getParentRoute: parent,
  path: '/connect',
  validateSearch: textsOf(['assistant', 'tab']),
  component: lazyRouteComponent(() => import('./screens/connect/connect.tsx'), 'Connect'),
});

const deployments = createRoute({
  getParentRoute: parent,
  path: '/deployments',
  component: lazyRouteComponent(() => import('./screens/deployments/deployments.tsx'), 'Deployments'),
});
const deployment = createRoute({
  getParentRoute: parent,
  path: '/deployments/$deploymentId',
  validateSearch: textsOf(['revision', 'tab']),
  component: lazyRouteComponent(() => import('./screens/deployment/deployment.tsx'), 'Deployment'),
});

const graphs = createRoute({
  getParentRoute: parent,
  path: '/graphs',
  component: lazyRouteComponent(() => import('./screens/graphs/graphs.tsx'), 'Graphs'),
});
const graph = createRoute({
  getParentRoute: parent,
  path: '/graphs/$assistantId',
  validateSearch: textsOf(['run', 'node', 'open']),
  component: lazyRouteComponent(() => import('./screens/graph/graph.tsx'), 'Graph'),
});

const assistants = createRoute({
  getParentRoute: parent,
  path: '/assistants',
  validateSearch: textsOf(['name', 'graph']),
  component: lazyRouteComponent(() => import('./screens/assistants/assistants.tsx'), 'Assistants'),
});
const assistant = createRoute({
  getParentRoute: parent,
  path: '/assistants/$assistantId',
  validateSearch: textsOf(['tab', 'version', 'with', 'against', 'tried']),
  component: lazyRouteComponent(() => import('./screens/assistant/assistant.tsx'), 'Assistant'),
});

const routes = [
  overview,
  chats,
  newChat,
  chat,
  runs,
  run,
  compare,
  threads,
  thread,
  inbox,
  webhooks,
  delivery,
  crons,
  cron,
  store,
  keys,
  system,
  usage,
  connect,
  graphs,
  graph,
  assistants,
  assistant,
  deployments,
  deployment,
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: STUDIO_PATH,
  defaultPreload: 'intent',
  defaultErrorComponent: ScreenFailure,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
