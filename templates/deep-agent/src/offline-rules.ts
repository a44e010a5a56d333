import type { Answer, Turn } from './offline-model.ts';

// One function for each agent. Not needed with a model of your own.

/** Plans and delegates, has the draft checked, and answers. */
export function supervisorRules({ request, results: [, facts, review] }: Turn): Answer {
  if (facts === undefined)
    return [
      { tool: 'write_todos', args: { todos: ['Find facts', 'Check the draft'].map(todo) } },
      { tool: 'task', args: { subagent_type: 'researcher', description: request } },
    ];
  if (review === undefined)
    return [{ tool: 'task', args: { subagent_type: 'critic', description: `${request}\n\n${facts}` } }];
  return `${facts}\n\nThe critic: ${review}\n\nI have no model yet: set MODEL in .env.`;
}

export function researcherRules({ request, results: [found] }: Turn): Answer {
  return found ?? [{ tool: 'search_notes', args: { query: request } }];
}

export function criticRules({ request }: Turn): Answer {
  return /^\S+\.md: /m.test(request) ? 'Every fact names its source.' : 'No fact has a source.';
}

function todo(content: string) {
  return { content, status: 'pending' };
}
