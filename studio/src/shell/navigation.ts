import type { Session } from '../api/session.ts';

/** Screens in sidebar order, in groups. */
const GROUPS = [
  [
    { to: '/', label: 'Overview' },
    { to: '/chat', label: 'Chat' },
    { to: '/graphs', label: 'Graphs' },
    { to: '/runs', label: 'Runs' },
    { to: '/threads', label: 'Threads' },
    { to: '/inbox', label: 'Inbox' },
  ],
  [
    { to: '/assistants', label: 'Assistants' },
    { to: '/store', label: 'Store' },
    { to: '/crons', label: 'Crons' },
    { to: '/webhooks', label: 'Webhooks' },
  ],
  [
    { to: '/deployments', label: 'Deployments' },
    { to: '/keys', label: 'Keys' },
    { to: '/system', label: 'System' },
    { to: '/connect', label: 'Connect' },
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
