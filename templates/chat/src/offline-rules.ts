import type { Answer, Turn } from './offline-model.ts';

/** Not needed with a model of your own. */
export function offlineRules({ request, results: [result] }: Turn): Answer {
  if (result !== undefined) return result;
  const [, to, text] = /(\S+@\S+)(?: that)? (.+)/s.exec(request) ?? [];
  if (to !== undefined && text !== undefined) return [{ tool: 'send_email', args: { to, text } }];
  return 'I have no model yet. Write "Tell ada@example.com that lunch is at one", or set MODEL in .env.';
}
