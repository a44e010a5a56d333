import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { Button } from '../../ui/button.tsx';
import { DialogButtons } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select, TextInput } from '../../ui/fields.tsx';
import { JsonInput, typedJson } from '../../ui/json-field.tsx';
import { type Draft, draftOf, saveCron } from './cron-draft.ts';
import type { Cron } from './crons-query.ts';
import { NextTimes } from './times.tsx';

interface CronFormProps {
  /** The one to edit. A new one if absent. */
  readonly cron?: Cron;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onSaved?: (cron: Cron) => void;
}

/** Creates or edits a cron. Previews the next times while the schedule is typed. */
export function CronForm({ cron, open, onClose, onSaved }: CronFormProps) {
  return (
    <Dialog title={cron ? 'Edit cron' : 'New cron'} open={open} onClose={onClose}>
      <Form cron={cron} onClose={onClose} onSaved={onSaved} />
    </Dialog>
  );
}

type FormProps = Pick<CronFormProps, 'onClose'> & {
  readonly cron: Cron | undefined;
  readonly onSaved: CronFormProps['onSaved'] | undefined;
};

function Form({ cron, onClose, onSaved }: FormProps) {
  const client = useQueryClient();
  const { data: assistants = [] } = useQuery(assistantsQuery);
  // What the draft began with: another client may change the cron meanwhile.
  const [first] = useState(cron);
  const [draft, setDraft] = useState(() => draftOf(cron));
  const input = typedJson(draft.input);
  const assistant_id = draft.assistant_id || assistants[0]?.assistant_id || '';
  const save = useMutation({
    mutationFn: () => saveCron(first, { ...draft, assistant_id }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['cron'] }),
  });
  // An option of the call: a late response must not navigate a reader who has closed the dialog.
  const onSuccess = (saved: Cron) => {
    onClose();
    onSaved?.(saved);
  };
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (input.error === undefined) save.mutate(undefined, { onSuccess });
      }}
    >
      {!cron && (
        <Field label="Assistant">
          <Select
            value={assistant_id}
            onChange={({ target }) => set({ assistant_id: target.value })}
            options={assistants.map((each) => [each.assistant_id, assistantName(each)] as const)}
          />
        </Field>
      )}
      <ScheduleFields draft={draft} set={set} />
      {!cron && (
        <Field label="Thread id (leave empty for a new thread per run)">
          <TextInput value={draft.thread_id} onChange={({ target }) => set({ thread_id: target.value })} />
        </Field>
      )}
      <Field label="Input as JSON" error={input.error}>
        <JsonInput rows={6} value={draft.input} onChange={({ target }) => set({ input: target.value })} />
      </Field>
      <DialogButtons error={save.error?.message ?? ''}>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" look="primary" disabled={save.isPending || input.error !== undefined}>
          {cron ? 'Save' : 'Create'}
        </Button>
      </DialogButtons>
    </form>
  );
}

function ScheduleFields({ draft, set }: { draft: Draft; set: (change: Partial<Draft>) => void }) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Schedule (cron expression)">
          <TextInput
            required
            autoFocus
            className="font-mono"
            value={draft.schedule}
            onChange={({ target }) => set({ schedule: target.value })}
          />
        </Field>
        <Field label="Time zone">
          <TextInput
            list="time-zones"
            placeholder="UTC"
            value={draft.timezone}
            onChange={({ target }) => set({ timezone: target.value })}
          />
        </Field>
        <Field label="Ends (local time; leave empty for never)">
          <TextInput
            type="datetime-local"
            value={draft.end}
            onChange={({ target }) => set({ end: target.value })}
          />
        </Field>
        <datalist id="time-zones">
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
      <div aria-live="polite">
        <NextTimes
          schedule={draft.schedule}
          timezone={draft.timezone.trim() || null}
          end={draft.end === '' ? undefined : Date.parse(draft.end)}
        />
      </div>
    </>
  );
}
