import type { Answer, Turn } from './offline-model.ts';

/** Not needed with a model of your own. */
export function offlineRules({ request, results: [time] }: Turn): Answer {
  if (time !== undefined) return `It is ${time}.`;
  const timezone = /\b[A-Z]\w+\/[A-Z]\w+\b/.exec(request)?.[0] ?? 'UTC';
  if (/\btime\b/i.test(request)) return [{ tool: 'current_time', args: { timezone } }];
  return 'Hello! I have no model yet. Ask me what time it is, or set MODEL in .env.';
}
