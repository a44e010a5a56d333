/** Screens in the order of the sidebar, in groups. */
export const GROUPS = [
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
    { to: '/keys', label: 'Keys' },
    { to: '/system', label: 'System' },
    { to: '/connect', label: 'Connect' },
  ],
] as const;

export type Screen = (typeof GROUPS)[number][number];
export const SCREENS: readonly Screen[] = GROUPS.flat();
