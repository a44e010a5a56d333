import { useQueryClient } from '@tanstack/react-query';
import { controlPlane, type Deployment } from '../../api/control-plane.ts';
import { useDeploymentAccess } from '../../api/session.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Facts, Panel } from '../../ui/page.tsx';

/** Whether threads are pinned, and whether pushes are deployed. A change by itself deploys nothing. */
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
          ['Threads', isPinned ? 'stay on the revision of their first run' : 'move to the newest revision'],
          ...(hasPushes ? [['Pushes', deploysPushes ? 'are deployed' : 'are not deployed'] as const] : []),
        ]}
      />
      {canChange && (
        <div className="flex flex-wrap gap-2">
          <Confirm
            action={isPinned ? 'Unpin threads' : 'Pin threads'}
            look="plain"
            question={isPinned ? 'Unpin threads?' : 'Pin threads?'}
            onConfirm={() => configure({ pin: isPinned ? 'latest' : 'thread' })}
          >
            {isPinned
              ? 'Each thread, with its interrupts, continues on the revision that serves its next run.'
              : 'A thread stays on the revision of its first run while the build of that revision is kept. Existing threads are pinned to the revision that serves their next run.'}
          </Confirm>
          {hasPushes && (
            <Confirm
              action={deploysPushes ? 'Stop deploying pushes' : 'Deploy pushes'}
              look="plain"
              question={deploysPushes ? 'Stop deploying pushes?' : 'Deploy pushes?'}
              onConfirm={() => configure({ build_on_push: !deploysPushes })}
            >
              {deploysPushes
                ? 'Pushes reported by a hook or polling will be ignored.'
                : 'Each push to the branch that a hook or polling reports is built, checked and put into service.'}
            </Confirm>
          )}
        </div>
      )}
    </Panel>
  );
}
