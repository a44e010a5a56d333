import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { DialogForm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, TextInput } from '../../ui/fields.tsx';
import { DeliveryPill } from './delivery-pill.tsx';
import { Tries } from './tries.tsx';

/** Sends a sample to an address and shows the response. */
export function SendTest() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Send a test
      </Button>
      <Dialog title="Send a test" open={isOpen} onClose={() => setOpen(false)}>
        <Form close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Form({ close }: { close: () => void }) {
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const send = useMutation({
    mutationFn: () => dataOf(api.POST('/webhooks/test', { body: { url: url.trim() } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ['delivery', 'list'] }),
  });
  return (
    <DialogForm action="Send" leave="Close" sending={send} close={close}>
      <p className="text-ink-2">Sends one sample, signed like a real delivery. It is not retried.</p>
      <Field label="Address">
        <TextInput
          required
          autoFocus
          placeholder="https://example.com/hook"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
      </Field>
      {send.data && <Outcome delivery={send.data} />}
    </DialogForm>
  );
}

function Outcome({ delivery }: { delivery: Schemas['DeliveryDetail'] }) {
  return (
    <div role="status" className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <DeliveryPill status={delivery.status} />
        <Link
          to="/webhooks/$deliveryId"
          params={{ deliveryId: delivery.delivery_id }}
          className={`ml-auto ${buttonClass('quiet')}`}
        >
          Open delivery
        </Link>
      </div>
      <Tries attempts={delivery.attempts} />
    </div>
  );
}
