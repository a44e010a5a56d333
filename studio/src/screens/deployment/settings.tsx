import { useQueryClient } from '@tanstack/react-query';
import { controlPlane, type Deployment } from '../../api/control-plane.ts';
import { useDeploymentAccess } from '../../api/session.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Facts, Panel } from '../../ui/page.tsx';

/** Which revision a thread goes on with, and whether pushes are deployed. A change deploys nothing by itself. */
export function Settings({ deployment: { id, source, source_config: config } }: { deployment: Deployment }) {
  const { canChange } = useDeploymentAccess();
  const client = useQueryClient();
  const isPinned = config.pin === 'thread';
  const deploysPushes = config.build_on_push === true;
  async function configure(change: Parameters<typeof controlPlane.configure>[1]) {
    await controlPlane.configure(id, change);
    await client.invalidateQueries({ queryKey: ['deployment', id] });
  }
  const hasPushes = source === 'github';
  return (
    <Panel title="Settings">
      <Facts
        items={[
          [
            'Threads',
            isPinned ? 'stay with the revision of their first run' : 'go on with the newest revision',
          ],
          ...(hasPushes ? [['Pushes', deploysPushes ? 'are deployed' : 'are not deployed'] as const] : []),
        ]}
      />
      {canChange && (
        <div className="flex flex-wrap gap-2">
          <Confirm
            action={isPinned ? 'Unpin threads' : 'Pin threads'}
            look="plain"
            question={isPinned ? 'Let threads go on with the newest revision?' : 'Pin threads?'}
            onConfirm={() => configure({ pin: isPinned ? 'latest' : 'thread' })}
          >
            {isPinned
              ? 'Each thread continues with the code that serves at its next run, its interrupts included.'
              : 'A thread stays with the revision of its first run, as long as the build of that is kept. Threads that ran before belong to what serves at their next run.'}
          </Confirm>
          {hasPushes && (
            <Confirm
              action={deploysPushes ? 'Stop deploying pushes' : 'Deploy pushes'}
              look="plain"
              question={deploysPushes ? 'Stop deploying pushes?' : 'Deploy pushes?'}
              onConfirm={() => configure({ build_on_push: !deploysPushes })}
            >
              {deploysPushes
                ? 'Pushes that a hook or polling reports are ignored from now on.'
                : 'A push to the branch that a hook or polling reports is built, checked, and takes over.'}
            </Confirm>
          )}
        </div>
      )}
    </Panel>
  );
}
