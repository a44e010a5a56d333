import { expect, test } from 'vitest';
import { ProtocolNotes } from '../../src/graphs/runtime/protocol-notes.ts';

test('an interrupt of one task does not end the subgraph of another that still executes', () => {
  const noted: string[] = [];
  const notes = new ProtocolNotes(
    ({ event, data }) => {
      const { data: note } = data as { data: { event?: string; id?: string } };
      noted.push(`${event} ${note.event ?? note.id}`);
    },
    { hasRootStates: true },
  );
  notes.state([], {});
  notes.state(['worker:1'], { messages: [] });
  notes.state([], { __interrupt__: [{ id: 'a', value: 'ok?' }] });
  notes.state(['worker:1'], { messages: [] });
  expect(noted).toEqual(['note:lifecycle|worker:1 started']);
  notes.end('completed');
  expect(noted.slice(1)).toEqual(['note:lifecycle|worker:1 completed']);
});
