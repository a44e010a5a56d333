import { Gauge } from 'prom-client';
import type { HostView } from '../../schemas/system.ts';
import { type Meters, OURS } from './meters.ts';

/** Metrics of the graph hosts, by number. Without hosts there are none. */
export function measureHosts(hosts: () => readonly HostView[], { registry }: Meters): void {
  const gauge = (name: string, help: string, read: (host: HostView) => number | null) =>
    new Gauge({
      name: `${OURS}host_${name}`,
      help,
      labelNames: ['host'] as const,
      registers: [registry],
      collect() {
        this.reset();
        for (const host of hosts()) this.set({ host: host.number }, read(host) ?? 0);
      },
    });
  gauge('ready', '1 if the graph host takes work, 0 if not.', ({ ready }) => Number(ready));
  gauge('runs_active', 'Runs that the graph host executes.', ({ active }) => active);
  gauge(
    'loop_blocked_seconds',
    'How long its event loop has been blocked.',
    (host) => host.blocked_ms / 1000,
  );
  gauge('resident_memory_bytes', 'Resident memory of the graph host.', ({ memory_bytes }) => memory_bytes);
  gauge('restarts', 'How often the process was started again.', ({ restarts }) => restarts);
}
