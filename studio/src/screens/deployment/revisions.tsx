import { Link } from '@tanstack/react-router';
import type { Revision } from '../../api/control-plane.ts';
import { Button } from '../../ui/button.tsx';
import { Ago, duration, useNow } from '../../ui/format.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { Commit } from '../deployments/commit.tsx';
import { RevisionPill } from '../deployments/revision-pill.tsx';
import { tookOf } from '../deployments/revision-state.ts';

const TRIGGERS: Readonly<Record<Revision['trigger'], string>> = {
  manual: 'by hand',
  push: 'push',
  poll: 'poll',
  api: 'API',
};

interface RevisionsProps {
  readonly revisions: readonly Revision[];
  readonly selected: string | undefined;
  readonly more: (() => void) | undefined;
}

/** All revisions, newest first, each a link to its details. */
export function Revisions({ revisions, selected, more }: RevisionsProps) {
  const now = useNow();
  return (
    <section className="flex flex-col gap-2">
      <h2 className="text-xs font-semibold text-ink-2">Revisions</h2>
      <Table label="Revisions" columns={['Revision', 'Status', 'Trigger', 'Commit', 'Took', 'Queued']}>
        {revisions.map((revision) => {
          const took = tookOf(revision, now);
          const isSelected = revision.id === selected;
          return (
            <Row key={revision.id} data-selected={isSelected || undefined}>
              <Cell className="font-medium">
                <Link
                  to="."
                  search={(before: object) => ({ ...before, revision: revision.id })}
                  replace
                  aria-current={isSelected ? 'true' : undefined}
                  className={isSelected ? 'text-accent' : 'hover:text-accent'}
                >
                  #{revision.number}
                </Link>
              </Cell>
              <Cell>
                <RevisionPill revision={revision} />
              </Cell>
              <Cell className="text-ink-2">{TRIGGERS[revision.trigger]}</Cell>
              <Cell className="max-w-[32ch]">
                <Commit revision={revision} />
              </Cell>
              <Cell className="whitespace-nowrap text-ink-2">{took === undefined ? '' : duration(took)}</Cell>
              <Cell className="text-ink-2">
                <Ago at={revision.created_at} />
              </Cell>
            </Row>
          );
        })}
      </Table>
      {more && (
        <Button className="self-center" onClick={more}>
          Show older revisions
        </Button>
      )}
    </section>
  );
}
