import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { assistantsQuery } from '../../api/assistants.ts';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Select, TextInput } from '../../ui/fields.tsx';

/** Creates an assistant and opens it, unless the reader has left the screen. */
export function useCreateAssistant(onCreated?: () => void) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (body: Schemas['AssistantCreate']) =>
      (await dataOf(api.POST('/assistants', { body }))) as Schemas['Assistant'],
    onSuccess: () => client.invalidateQueries({ queryKey: assistantsQuery.queryKey }),
  });
  const create = (body: Schemas['AssistantCreate']) =>
    mutate(body, {
      onSuccess({ assistant_id }) {
        onCreated?.();
        void navigate({ to: '/assistants/$assistantId', params: { assistantId: assistant_id } });
      },
    });
  return { create, error, isPending };
}

/** Asks for a graph and a name. Everything else is on the assistant's page. */
export function CreateAssistant({ close }: { close: () => void }) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const graphs = [...new Set(assistants.map(({ graph_id }) => graph_id))].sort();
  const [graph, setGraph] = useState('');
  const [name, setName] = useState('');
  const { create, error, isPending } = useCreateAssistant(close);
  function submit(event: FormEvent) {
    event.preventDefault();
    create({ graph_id: graph || (graphs[0] ?? ''), name });
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Field label="Graph">
        <Select
          value={graph || graphs[0]}
          onChange={({ target }) => setGraph(target.value)}
          options={graphs.map((each) => [each, each] as const)}
        />
      </Field>
      <Field label="Name" error={error?.message}>
        <TextInput required autoFocus value={name} onChange={({ target }) => setName(target.value)} />
      </Field>
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" look="primary" disabled={isPending}>
          Create
        </Button>
      </div>
    </form>
  );
}
