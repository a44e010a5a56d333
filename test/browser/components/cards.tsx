import { useStreamContext } from '@langchain/langgraph-sdk/react-ui';
import { use, useEffect, useState } from 'react';
import { Hostile, Leaves } from './hostile.tsx';
import './cards.css';

interface Progress {
  title: string;
  done: number;
  height?: number;
}

/** Shows what it is given, and keeps a state of its own. */
function ProgressCard({ title, done, height }: Progress) {
  const [clicks, setClicks] = useState(0);
  return (
    <section className="card" style={{ height }}>
      <p>
        {title}: {done} done
      </p>
      <button type="button" onClick={() => setClicks(clicks + 1)}>
        {clicks} clicks
      </button>
    </section>
  );
}

interface Conversation {
  values: { messages: unknown[] };
  messages: unknown[];
  meta: { run_id?: string };
  submit(values: unknown): Promise<void>;
}

const useConversation = () => useStreamContext() as unknown as Conversation;

/** Says something for the person who clicks. */
function Ask({ text }: { text: string }) {
  const { values, messages, meta, submit } = useConversation();
  return (
    <section className="card">
      <p>
        {values.messages.length} in the state, {messages.length} in the chat,{' '}
        {meta.run_id ? 'of a run' : 'of none'}
      </p>
      <button type="button" onClick={() => submit({ messages: [{ type: 'human', content: text }] })}>
        Ask
      </button>
    </section>
  );
}

/** Says something at each event of one use. */
function Eager({ text }: { text: string }) {
  const { submit } = useConversation();
  const say = () => submit({ messages: [{ type: 'human', content: text }] });
  return (
    <button
      type="button"
      onPointerDown={say}
      onMouseDown={say}
      onPointerUp={say}
      onMouseUp={say}
      onKeyDown={say}
      onKeyUp={say}
      onClick={say}
    >
      Ask often
    </button>
  );
}

/** Says something by itself. */
function Pushy({ text }: { text: string }) {
  const { submit } = useConversation();
  useEffect(() => void submit({ messages: [{ type: 'human', content: text }] }), [submit, text]);
  return <p>Asks by itself</p>;
}

function Throws(): never {
  throw new Error('there is no city');
}

const never = new Promise<void>(() => undefined);

/** Is never there. */
function Waits() {
  use(never);
  return null;
}

/** Takes all the time there is. */
function Blocks(): never {
  for (;;);
}

export default {
  progress: ProgressCard,
  ask: Ask,
  eager: Eager,
  pushy: Pushy,
  throws: Throws,
  waits: Waits,
  blocks: Blocks,
  hostile: Hostile,
  leaves: Leaves,
};
