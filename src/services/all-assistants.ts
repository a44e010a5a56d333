import type { Actor } from '../auth/actor.ts';
import type { Assistant } from '../schemas/assistants.ts';
import type { AssistantService } from './assistants.ts';

const PAGE = 1000;

/** Every assistant that the caller may see, the oldest first. */
export async function allAssistants(
  assistants: Pick<AssistantService, 'search'>,
  actor: Actor,
): Promise<Assistant[]> {
  const found: Assistant[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page = await assistants.search(actor, {
      limit: PAGE,
      offset,
      sort_by: 'created_at',
      sort_order: 'asc',
    });
    found.push(...(page.items as Assistant[]));
    offset = page.next;
  }
  return found;
}
