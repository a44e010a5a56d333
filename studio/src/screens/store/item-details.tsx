import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Ago, Until } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { ItemForm } from './item-form.tsx';
import { deleteItem, itemQuery, labelsOf } from './store-queries.ts';

/** Dialog with one item and its whole value. */
export function ItemDetails({ namespace, itemKey }: { namespace: string; itemKey: string }) {
  const navigate = useNavigate({ from: '/store' });
  const { data, error, refetch } = useQuery(itemQuery(namespace, itemKey));
  const [isEditing, setEditing] = useState(false);
  const close = () =>
    void navigate({
      search: ({ namespace, query, filter }) => ({ namespace, query, filter }),
      replace: true,
    });
  if (data && isEditing) {
    return <ItemForm namespace={namespace} item={data} open onClose={() => setEditing(false)} />;
  }
  return (
    <Dialog title={itemKey} open onClose={close}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!error && data === undefined && <Loading what="the item" />}
      {data === null && <p className="text-ink-2">Item not found. It may have been deleted or expired.</p>}
      {data && (
        <>
          <p className="text-ink-2">
            In <span className="font-mono text-xs">{namespace}</span>, created <Ago at={data.created_at} />,
            updated <Ago at={data.updated_at} />
            {data.ttl && (
              <>
                , expires in <Until at={data.ttl.expires_at} />
              </>
            )}
            {data.index !== undefined && `, ${foundBy(data.index)}`}
          </p>
          <Json value={data.value} label="Value" />
        </>
      )}
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={close}>
          Close
        </Button>
        {data && (
          <Actions namespace={namespace} itemKey={itemKey} edit={() => setEditing(true)} close={close} />
        )}
      </div>
    </Dialog>
  );
}

/** Which fields of the item are indexed, if it differs from the default. */
function foundBy(index: NonNullable<Schemas['Item']['index']>): string {
  if (index === false || index.length === 0) return 'not found by searching';
  return `found by its ${index.join(', ')}`;
}

interface ActionsProps {
  readonly namespace: string;
  readonly itemKey: string;
  readonly edit: () => void;
  readonly close: () => void;
}

function Actions({ namespace, itemKey, edit, close }: ActionsProps) {
  const { can } = useSession();
  const client = useQueryClient();
  if (!can('run')) return null;
  async function remove() {
    await deleteItem({ namespace: labelsOf(namespace), key: itemKey });
    close();
    await client.invalidateQueries({ queryKey: ['item'] });
  }
  return (
    <>
      <Confirm
        action="Delete"
        question={
          <>
            Delete <bdi>{itemKey}</bdi>?
          </>
        }
        onConfirm={remove}
      >
        Assistants can no longer read it. This cannot be undone.
      </Confirm>
      <Button look="primary" onClick={edit}>
        Edit
      </Button>
    </>
  );
}
