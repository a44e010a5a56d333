import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { CronForm } from '../crons/cron-form.tsx';
import type { Cron } from '../crons/crons-query.ts';

/** Run now, pause or resume, edit, delete. */
export function CronActions({ cron }: { cron: Cron }) {
  const { can } = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isEditing, setEditing] = useState(false);
  const params = { path: { cron_id: cron.cron_id } };
  const onSettled = () =>
    Promise.all(['cron', 'run'].map((kind) => client.invalidateQueries({ queryKey: [kind] })));
  const run = useMutation({
    mutationFn: () => dataOf(api.POST('/runs/crons/{cron_id}/trigger', { params })),
    onSettled,
  });
  const pause = useMutation({
    mutationFn: (enabled: boolean) =>
      dataOf(api.PATCH('/runs/crons/{cron_id}', { params, body: { enabled } })),
    onSettled,
  });
  async function remove() {
    await dataOf(api.DELETE('/runs/crons/{cron_id}', { params }));
    await navigate({ to: '/crons' });
    client.removeQueries({ queryKey: ['cron', cron.cron_id] });
    await onSettled();
  }
  if (!can('run')) return null;
  const refusal = run.error ?? pause.error;
  return (
    <>
      {refusal && (
        <span role="alert" className="text-err">
          {refusal.message}
        </span>
      )}
      <Confirm action="Delete" question="Delete this cron?" onConfirm={remove}>
        It creates no more runs. Those that it created are kept; the history of its times is not.
      </Confirm>
      <Button onClick={() => setEditing(true)}>Edit</Button>
      <Button disabled={pause.isPending} onClick={() => pause.mutate(!cron.enabled)}>
        {cron.enabled ? 'Pause' : 'Resume'}
      </Button>
      <Button look="primary" disabled={run.isPending} onClick={() => run.mutate()}>
        Run now
      </Button>
      <CronForm cron={cron} open={isEditing} onClose={() => setEditing(false)} />
    </>
  );
}
