import { spawnSync } from 'node:child_process';

/**
 * Environment that makes a server under test execute its graphs in hosts, as many as `TEST_HOSTS` says. Without it they
 * execute in the server's own process.
 */
export const HOSTS_OF_TESTS: Readonly<Record<string, string>> =
  process.env['TEST_HOSTS'] === undefined ? {} : { AGENT_SERVER_HOSTS: process.env['TEST_HOSTS'] };

/** The same for a server in a process of its own, whose default is a host: it would cost each test a second process. */
export const HOSTS_OF_SERVERS: Readonly<Record<string, string>> = {
  AGENT_SERVER_HOSTS: '0',
  ...HOSTS_OF_TESTS,
};

/** Process ids of the graph hosts of a server. `ps` fails when there is no child at all. */
export function hostsOf(pid: number): number[] {
  const listed = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' }).stdout;
  const hosts = listed.split('\n').filter((line) => line.includes('hosts/host/main'));
  return hosts.map((line) => Number.parseInt(line, 10));
}
