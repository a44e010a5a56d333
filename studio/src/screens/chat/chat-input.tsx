import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Composer, Frame } from './composer.tsx';
import { humanMessage, type Message, propertyNames } from './messages.ts';
import { StateInput } from './state-input.tsx';
import { useWritten } from './written.ts';

interface ChatInputProps {
  readonly assistant_id: string;
  /** Key of the conversation that the draft belongs to. */
  readonly place: string;
  readonly name: string;
  /** JSON Schema of the graph's input. */
  readonly schema: unknown;
  readonly said: readonly string[];
  /** Sending is disabled, typing is not. */
  readonly isDisabled: boolean;
  /** Calls `onRefused` if the message is not accepted. `isNow` stops the active run first. */
  readonly onMessage: (message: Message, onRefused: () => void, isNow: boolean) => void;
  readonly onInput: (input: unknown) => void;
  /** Stops the active run. `undefined` if none is active. */
  readonly onStop: (() => void) | undefined;
  /** Whether a message may stop the active run. */
  readonly mayInterrupt?: boolean;
  /** Whether a question waits. A form would leave it too little room. */
  readonly isAsked?: boolean;
}

/** A message box for graphs that take messages, a form for others, and both if a graph takes more than messages. */
export function ChatInput({
  name,
  said,
  schema,
  onMessage,
  onInput,
  isAsked = false,
  ...common
}: ChatInputProps) {
  const [isUnfolded, setUnfolded] = useState(false);
  const names = propertyNames(schema);
  const takesMessages = names.includes('messages');
  const [isForm, setForm] = useWritten(`${common.place} form`, !takesMessages);
  if (isForm && isAsked && !isUnfolded) {
    return (
      <Frame place={common.place}>
        <Button look="quiet" className="self-start" onClick={() => setUnfolded(true)}>
          Send a new input instead
        </Button>
      </Frame>
    );
  }
  if (isForm) {
    return (
      <StateInput
        {...common}
        schema={schema}
        hasFocus={isUnfolded}
        onSend={(input) => {
          setUnfolded(false);
          onInput(input);
        }}
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
