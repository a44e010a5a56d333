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

/** Screens of extensions, which may be off. */
const EXTENSIONS: Partial<Record<Screen['to'], string>> = {
  '/deployments': 'deployments',
  '/usage': 'usage',
};

/** Screen groups for a session: those of extensions only if they are on, and one for a deployments-only key. */
export function groupsOf({
  extensions,
  scope,
}: Pick<Session, 'extensions' | 'scope'>): readonly (readonly Screen[])[] {
  const isOn = ({ to }: Screen) => EXTENSIONS[to] === undefined || extensions.includes(EXTENSIONS[to]);
  const isOnly = scope === 'deployments:write';
  return GROUPS.map((screens) =>
    screens.filter((screen) => isOn(screen) && (!isOnly || screen.to === '/deployments')),
  ).filter(({ length }) => length > 0);
}
