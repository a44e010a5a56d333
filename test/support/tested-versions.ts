/** What the suite runs on and no package.json names: these are the versions of Debian 12, and those of `.ci/run`. */
export const TESTED = {
  node: [24, 22],
  postgresql: '15',
  pgbouncer: '1.18',
  python_sdk: '0.4',
} as const;
