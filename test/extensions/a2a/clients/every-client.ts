import { connectPython, pythonOfA2a } from './python.ts';
import { connect03 } from './sdk-0.3.ts';
import { connect10 } from './sdk-1.0.ts';
import type { Connect } from './told.ts';

type NamedClient = readonly [name: string, connect: Connect];

const PYTHON: readonly NamedClient[] = [
  ['Python 1.0, JSON-RPC', (agent) => connectPython(agent, 'JSONRPC', '1.0')],
  ['Python 1.0, HTTP+JSON', (agent) => connectPython(agent, 'HTTP+JSON', '1.0')],
  ['Python 0.3', (agent) => connectPython(agent, 'JSONRPC', '0.3')],
];

/** The official clients of both versions and languages; those in Python where one has them. */
export const EVERY_CLIENT: readonly NamedClient[] = [
  ['JavaScript 1.0, JSON-RPC', (agent) => connect10(agent, 'JSONRPC')],
  ['JavaScript 1.0, HTTP+JSON', (agent) => connect10(agent, 'HTTP+JSON')],
  ['JavaScript 0.3', connect03],
  ...(pythonOfA2a ? PYTHON : []),
];
