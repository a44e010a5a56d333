import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { JsonField, typedJson } from '../../ui/json-field.tsx';
import { type RunRequest, requestOf } from './run-request.ts';

/** Starts a run like this one, with an edited input or options. */
export function Rerun({ run }: { run: Schemas['Run'] }) {
  const [isOpen, setOpen] = useState(false);
  const { can } = useSession();
  if (!can('run')) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Re-run with changes</Button>
      <Dialog title="Re-run with changes" open={isOpen} onClose={() => setOpen(false)}>
        <Form run={run} close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

interface FormProps {
  readonly run: Schemas['Run'];
  readonly close: () => void;
}

function Form({ run, close }: FormProps) {
  const { input: first, ...rest } = requestOf(run);
  const [input, setInput] = useState(() => (first === undefined ? '' : JSON.stringify(first, null, 2)));
  const [options, setOptions] = useState(() => JSON.stringify(rest, null, 2));
  const [place, setPlace] = useState<'new' | 'same'>('new');
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: (request: RunRequest) => startRun(request, place === 'same' ? run.thread_id : undefined),
  });
  // An option of the call: a late response must not navigate a reader who has closed the dialog.
  const onSuccess = ({ run_id }: Schemas['Run']) => {
    close();
    void navigate({ to: '/runs/$runId', params: { runId: run_id } });
  };
  const typed = [typedJson(input), typedJson(options)] as const;
  const isWrong = typed.some(({ error }) => error !== undefined);
  function submit(event: FormEvent) {
    event.preventDefault();
    const [given, others] = typed;
    if (!isWrong) start.mutate({ ...(others.value as RunRequest), input: given.value }, { onSuccess });
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <JsonField label="Input" text={input} onChange={setInput} rows={10} />
      <details>
        <summary className="py-1 text-ink-2">Assistant, configuration and other options</summary>
        <JsonField label="Request options" text={options} onChange={setOptions} rows={8} />
      </details>
      <Field label="Thread">
        <Select
          value={place}
          onChange={({ target }) => setPlace(target.value as typeof place)}
          options={[
            ['new', 'A new thread'],
            ['same', 'The same thread, after its current state'],
          ]}
        />
      </Field>
      {start.error && (
        <p role="alert" className="break-words text-err">
          {start.error.message}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" look="primary" disabled={isWrong || start.isPending}>
          Start run
        </Button>
      </div>
    </form>
  );
}

/** Starts a resumable run, on a new thread if none is given. */
async function startRun(request: RunRequest, same?: string): Promise<Schemas['Run']> {
  const thread_id = same ?? (await createThread()).thread_id;
  return dataOf(
    api.POST('/threads/{thread_id}/runs', {
      params: { path: { thread_id } },
      body: { stream_resumable: true, ...request },
    }),
  );
}

async function createThread(): Promise<Schemas['Thread']> {
  return (await dataOf(api.POST('/threads', { body: {} }))) as Schemas['Thread'];
}
