import { Composer } from './composer.tsx';
import { humanMessage, type Message, propertyNames } from './messages.ts';
import { StateInput } from './state-input.tsx';
import { useWritten } from './written.ts';

interface ChatInputProps {
  readonly assistant_id: string;
  /** The conversation that this is for: what is written stays with it. */
  readonly place: string;
  readonly name: string;
  /** JSON Schema of the input of the graph. */
  readonly schema: unknown;
  readonly said: readonly string[];
  /** Nothing can be sent now; it can be written. */
  readonly isDisabled: boolean;
  /** Calls `onRefused` if the message does not arrive. `isNow`: the active run ends for it. */
  readonly onMessage: (message: Message, onRefused: () => void, isNow: boolean) => void;
  readonly onInput: (input: unknown) => void;
  /** Stops the run; `undefined` while none is active. */
  readonly onStop: (() => void) | undefined;
  /** A message may end the active run. */
  readonly mayInterrupt?: boolean;
}

/** A message for graphs that take messages, a form for the others; both where a graph takes more than messages. */
export function ChatInput({ name, said, schema, onMessage, onInput, ...common }: ChatInputProps) {
  const names = propertyNames(schema);
  const takesMessages = names.includes('messages');
  const [isForm, setForm] = useWritten(`${common.place} form`, !takesMessages);
  if (isForm) {
    return (
      <StateInput
        {...common}
        schema={schema}
        onSend={onInput}
        onMessage={takesMessages ? () => setForm(false) : undefined}
      />
    );
  }
  return (
    <Composer
      {...common}
      name={name}
      said={said}
      onSend={(content, ...how) => onMessage(humanMessage(content), ...how)}
      onForm={names.length > 1 ? () => setForm(true) : undefined}
    />
  );
}
