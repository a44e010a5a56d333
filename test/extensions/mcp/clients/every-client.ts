import { connectClient2, connectSdk1 } from './javascript.ts';
import { connectLangchain } from './langchain.ts';
import { connectPython, pythonOfMcp } from './python.ts';
import type { Connect } from './told.ts';

type NamedClient = readonly [name: string, connect: Connect];

const PYTHON: readonly NamedClient[] = [
  ['Python 2, newest revision', (url) => connectPython(url, 'auto')],
  ['Python 2, older revisions', (url) => connectPython(url, 'legacy')],
];

/** The official clients of all generations and languages; those in Python where one has them. */
export const EVERY_CLIENT: readonly NamedClient[] = [
  ['JavaScript 2, newest revision', (url) => connectClient2(url, 'auto')],
  ['JavaScript 2, as by default', (url) => connectClient2(url, 'default')],
  ['JavaScript 1', connectSdk1],
  ['LangChain', connectLangchain],
  ...(pythonOfMcp ? PYTHON : []),
];
