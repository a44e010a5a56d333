/**
 * Environment that makes a server under test execute its graphs in hosts, as many as `TEST_HOSTS` says. Without it they
 * execute in the server's own process.
 */
export const HOSTS_OF_TESTS: Readonly<Record<string, string>> =
  process.env['TEST_HOSTS'] === undefined ? {} : { AGENT_SERVER_HOSTS: process.env['TEST_HOSTS'] };
