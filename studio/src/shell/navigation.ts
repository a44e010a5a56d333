import {
  Bot,
  CalendarClock,
  ChartColumn,
  Database,
  Inbox,
  KeyRound,
  LayoutDashboard,
  ListTree,
  MessageCircle,
  MessagesSquare,
  Plug,
  Rocket,
  Server,
  Webhook,
  Workflow,
} from 'lucide-react';
import type { Session } from '../api/session.ts';

/** Screens in sidebar order, in groups. */
const GROUPS = [
  [
    { to: '/', label: 'Overview', Icon: LayoutDashboard },
    { to: '/chat', label: 'Chat', Icon: MessageCircle },
    { to: '/graphs', label: 'Graphs', Icon: Workflow },
    { to: '/runs', label: 'Runs', Icon: ListTree },
    { to: '/threads', label: 'Threads', Icon: MessagesSquare },
    { to: '/inbox', label: 'Inbox', Icon: Inbox },
  ],
  [
    { to: '/assistants', label: 'Assistants', Icon: Bot },
    { to: '/store', label: 'Store', Icon: Database },
    { to: '/crons', label: 'Crons', Icon: CalendarClock },
    { to: '/webhooks', label: 'Webhooks', Icon: Webhook },
  ],
  [
    { to: '/usage', label: 'Usage', Icon: ChartColumn },
    { to: '/deployments', label: 'Deployments', Icon: Rocket },
    { to: '/keys', label: 'Keys', Icon: KeyRound },
    { to: '/system', label: 'System', Icon: Server },
    { to: '/connect', label: 'Connect', Icon: Plug },
  ],
] as const;

export type Screen = (typeof GROUPS)[number][number];

/** Screen groups for a session. Deployments only if enabled, and nothing else for a deployments-only key. */
export function groupsOf({ deployments, scope }: Session): readonly (readonly Screen[])[] {
  const isOnly = scope === 'deployments:write';
  return GROUPS.map((screens) =>
    screens.filter(({ to }) => (to === '/deployments' ? deployments : !isOnly)),
  ).filter(({ length }) => length > 0);
}
