import type { LogFields, Logger } from '../../core/logger.ts';
import { every, unlessAborted } from '../../core/timers.ts';
import { logLoadError } from '../../graphs/project/configured-graphs.ts';
import { fromWireError } from '../protocol/errors.ts';
import type { Host, HostListing } from './host.ts';

/**
 * Interval at which a change that is still loading is logged, once for each place, ms: its code may loop, or wait for ever,
 * as it is imported.
 */
const SLOW_MS = 5000;

/**
 * Waits until a new host has loaded a change of the project. Stops the host and returns `undefined` if the `previous` code is
 * to stay in use: because the signal aborts; or, which is logged, because the process ends or a graph would be lost.
 */
export async function loadChange(
  host: Host,
  previous: HostListing | undefined,
  signal: AbortSignal,
  logger: Logger,
): Promise<HostListing | undefined> {
  const logged = new Set<string | undefined>();
  using _slow = every(SLOW_MS, () => {
    const { loadsAt: at } = host;
    if (logged.has(at)) return;
    logged.add(at);
    logger.warn('the change is still loading', { ...(at !== undefined && { at }) });
  });
  const refuse = (fields: LogFields) =>
    logger.error('cannot load the change; the previous code keeps running', fields);
  try {
    const listing = await unlessAborted(signal, host.ready);
    const lost = lostGraphs(listing, previous);
    if (lost.length === 0) return listing;
    for (const { graph_id, file = '', error } of listing.graphs)
      if (error) logLoadError(logger, { graph_id, file, error: fromWireError(error) });
    refuse({ graphs: lost.join(', ') });
  } catch (error) {
    // The error of a closed connection does not tell why.
    const end = error === host.peer.failure ? await host.ended : undefined;
    if (!signal.aborted && !end?.is_intended) refuse(end ? { reason: end.reason } : { error });
  }
  void host.stop('it did not load the project');
  return undefined;
}

/** The graphs that were loaded before and no longer are. Their runs in flight would fail for good. */
function lostGraphs(listing: HostListing, previous: HostListing | undefined): string[] {
  const loaded = previous?.graphs.filter(({ error }) => !error).map(({ graph_id }) => graph_id);
  return listing.graphs.flatMap(({ graph_id, error }) =>
    error && loaded?.includes(graph_id) ? graph_id : [],
  );
}
