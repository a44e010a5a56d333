import { lazy } from '../../core/lifecycle.ts';
import type { Contribution, Core } from '../extension.ts';
import { taskFinalizer } from './finalizer.ts';
import { a2aRoutes } from './http/routes.ts';
import type { A2aSettings } from './section.ts';
import { a2aPushRepository } from './storage/push-configs.ts';
import { type A2aTaskRow, a2aTaskRepository } from './storage/tasks.ts';
import { a2aTurns } from './storage/turns.ts';

/** The service needs the library of the protocol. It loads with the first request, or when a task's run ends. */
export function openA2a(core: Core, settings: A2aSettings): Contribution {
  const { storage, config, bus, clock, logger } = core;
  const a2a = lazy(async () => {
    const { a2aService } = await import('./service.ts');
    const { db } = storage.database;
    return a2aService({
      ...core,
      ...{ tasks: a2aTaskRepository(db), push: a2aPushRepository(db), events: storage.events },
      sends_webhooks: !config.http.disable_webhooks,
    });
  });
  const finalize = async (row: A2aTaskRow) => (await a2a()).finalize(row);
  return {
    rider: a2aTurns,
    routes: [(server, deps) => a2aRoutes(server, { ...deps, a2a, settings })],
    loops: [taskFinalizer({ tasks: a2aTaskRepository(storage.work.db), finalize, bus, clock, logger })],
  };
}
