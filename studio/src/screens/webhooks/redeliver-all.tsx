import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { DialogButtons } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { count } from '../../ui/format.tsx';
import { type DeliveryFilters, deadDeliveries } from './webhooks-query.ts';

/** Concurrent requests. Kept low, as recovering receivers are slow. */
const AT_A_TIME = 4;

interface Progress {
  readonly total: number;
  readonly done: number;
  readonly failed: readonly string[];
}

/** Redelivers the dead ones of the filtered deliveries, after a confirmation with their number. */
export function RedeliverAll({ filters }: { filters: DeliveryFilters }) {
  const [ids, setIds] = useState<readonly string[]>();
  const [error, setError] = useState('');
  const canHold = filters.status === undefined || filters.status === '' || filters.status === 'dead';
  async function ask() {
    setError('');
    try {
      setIds(await deadDeliveries(filters));
    } catch (refusal) {
      setError((refusal as Error).message);
    }
  }
  return (
    <>
      {error !== '' && (
        <span role="alert" className="text-err">
          {error}
        </span>
      )}
      <Button disabled={!canHold} onClick={() => void ask()}>
        Redeliver dead
      </Button>
      <Dialog title="Redeliver dead deliveries" open={ids !== undefined} onClose={() => setIds(undefined)}>
        {ids && <Question ids={ids} filters={filters} close={() => setIds(undefined)} />}
      </Dialog>
    </>
  );
}

interface QuestionProps {
  readonly ids: readonly string[];
  readonly filters: DeliveryFilters;
  readonly close: () => void;
}

function Question({ ids, filters, close }: QuestionProps) {
  const { progress, redeliver } = useRedelivery(ids);
  const isFiltered = Boolean(filters.url || filters.run);
  const isDone = progress !== undefined && progress.done === progress.total;
  const what = `${count(ids.length)} dead ${ids.length === 1 ? 'delivery' : 'deliveries'}`;
  if (ids.length === 0) {
    return (
      <p className="text-ink-2">
        {isFiltered ? 'No dead deliveries match the filters.' : 'No dead deliveries.'}
      </p>
    );
  }
  return (
    <>
      <p className="text-ink-2">
        {what} {isFiltered && 'that match the filters'} will be sent again, oldest first, with the same ids
        and as many tries as new deliveries.
      </p>
      {progress && (
        <p role="status">
          {count(progress.done - progress.failed.length)} of {count(progress.total)} queued for delivery.
        </p>
      )}
      <DialogButtons error={progress?.failed[0] ?? ''}>
        <Button look="quiet" onClick={close}>
          {progress ? 'Close' : 'Cancel'}
        </Button>
        {!isDone && (
          <Button look="primary" disabled={progress !== undefined} onClick={() => void redeliver()}>
            {`Redeliver ${count(ids.length)}`}
          </Button>
        )}
      </DialogButtons>
    </>
  );
}

function useRedelivery(ids: readonly string[]) {
  const client = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  async function redeliver() {
    const left = [...ids];
    const failed: string[] = [];
    let done = 0;
    const show = () => setProgress({ total: ids.length, done, failed: [...failed] });
    show();
    async function work() {
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        const params = { path: { delivery_id: id } };
        await dataOf(api.POST('/webhooks/deliveries/{delivery_id}/redeliver', { params })).catch(
          (error: Error) => failed.push(error.message),
        );
        done += 1;
        show();
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    await client.invalidateQueries({ queryKey: ['delivery'] });
  }
  return { progress, redeliver };
}
