import type { DeploymentHealth, RevisionHealth } from '../../api/control-plane.ts';
import { Ago, byteSize, count } from '../../ui/format.tsx';
import { Pill, type Tone } from '../../ui/pill.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';

const TONES: Readonly<Record<RevisionHealth['state'], Tone>> = {
  starting: 'run',
  serving: 'ok',
  draining: 'wait',
};

const COLUMNS = ['Revision', 'State', 'Since', 'Runs', 'Open requests', 'Processes', 'Memory', 'Restarts'];

/** Live revisions. An old one stays until its runs and streams have ended. */
export function LiveRevisions({ health: { revisions } }: { health: DeploymentHealth }) {
  if (revisions.length === 0) return null;
  return (
    <section className="flex flex-col gap-2">
      <h2 className="text-xs font-semibold text-ink-2">Running now</h2>
      <Table label="Running now" columns={COLUMNS}>
        {revisions.map((revision) => (
          <LiveRow key={revision.revision_id} revision={revision} />
        ))}
      </Table>
    </section>
  );
}

function LiveRow({
  revision: { number, state, since, runs, requests, hosts },
}: {
  revision: RevisionHealth;
}) {
  const ready = hosts.filter((host) => host.ready).length;
  const memory = hosts.reduce((sum, { memory_bytes }) => sum + (memory_bytes ?? 0), 0);
  const restarts = hosts.reduce((sum, host) => sum + host.restarts, 0);
  return (
    <Row>
      <Cell className="font-medium">#{number}</Cell>
      <Cell>
        <Pill tone={TONES[state]}>{state}</Pill>
      </Cell>
      <Cell className="text-ink-2">
        <Ago at={since} />
      </Cell>
      <Cell>{count(runs)}</Cell>
      <Cell>{count(requests)}</Cell>
      <Cell className="whitespace-nowrap">
        {hosts.length === 0 ? <span className="text-ink-3">none</span> : `${ready} of ${hosts.length} ready`}
      </Cell>
      <Cell className="whitespace-nowrap">
        {memory === 0 ? <span className="text-ink-3">unknown</span> : byteSize(memory)}
      </Cell>
      <Cell>{count(restarts)}</Cell>
    </Row>
  );
}
