import type { EventBus } from '../../events/bus.ts';

const QUEUED = 'revision.queued';
const INTERRUPTED = 'revision.interrupted';

/** Announces that a revision waits to be built. */
export function announceQueued(bus: EventBus): void {
  bus.emit('extension.event', QUEUED, '');
}

/** Announces that a revision must not be built or deployed any further. */
export function announceInterrupted(bus: EventBus, revision_id: string): void {
  bus.emit('extension.event', INTERRUPTED, revision_id);
}

/** Notifies of both. */
export function onRevisions(
  bus: EventBus,
  listeners: { queued(): void; interrupted(revision_id: string): void },
): Disposable {
  return bus.on('extension.event', (name, revision_id) => {
    if (name === QUEUED) listeners.queued();
    if (name === INTERRUPTED) listeners.interrupted(revision_id);
  });
}
