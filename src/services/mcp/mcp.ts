import type { Actor } from '../../auth/actor.ts';
import type { Ids } from '../../core/ids.ts';
import { lazy } from '../../core/lazy.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import type { ServerSecretRepository } from '../../storage/access/server-secrets.ts';
import { ASSISTANTS_CHANGED } from '../assistant-versions.ts';
import type { AssistantService } from '../assistants.ts';
import type { ThreadService } from '../threads.ts';
import { type ToolCallDeps, toolCalls } from './tool-calls.ts';
import { toolCatalog } from './tools.ts';

export interface McpDeps extends ToolCallDeps {
  readonly assistants: AssistantService;
  readonly threads: Pick<ThreadService, 'get' | 'delete'>;
  readonly secrets: ServerSecretRepository;
  readonly ids: Ids;
  readonly bus: Pick<EventBus, 'onHint'>;
}

export type McpService = ReturnType<typeof mcpService>;

/** Assistants as tools, and calls of them as runs. */
export function mcpService(deps: McpDeps) {
  return {
    ...toolCatalog(deps),
    ...toolCalls(deps),

    /** What the thread waits for. Throws `NotFound`. */
    async interrupts(actor: Actor, thread_id: string): Promise<Interrupt[]> {
      const { interrupts = {} } = await deps.threads.get(actor, thread_id);
      return Object.values(interrupts).flat();
    },

    /** Signs what clients carry from a question to its answer; the same on every process. */
    stateKey: lazy(() => deps.secrets.obtain('mcp', deps.ids.secret())),

    /** An assistant was made, changed or deleted, here or on another process. */
    onToolsChanged(listener: () => void): Disposable {
      return deps.bus.onHint(ASSISTANTS_CHANGED, listener);
    },
  };
}
