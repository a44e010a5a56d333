import { useState } from 'react';

/** What `humanInTheLoopMiddleware` asks. */
export interface Review {
  readonly action_requests: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
}

interface Props {
  readonly review: Review;
  readonly decide: (answer: { decisions: readonly object[] }) => void;
}

/** Shows what the agent is about to do. Its arguments can be edited before it is approved. */
export function Approval({ review: { action_requests: requests }, decide }: Props) {
  const [edited, setEdited] = useState(() => requests.map(({ args }) => args));
  const approved = requests.map(({ name, args }, index) =>
    edited[index] === args
      ? { type: 'approve' }
      : { type: 'edit', edited_action: { name, args: edited[index] } },
  );
  const change = (index: number, argument: string, value: string) =>
    setEdited(edited.map((args, at) => (at === index ? { ...args, [argument]: value } : args)));
  return (
    <section aria-label="Approval">
      {[...requests.entries()].map(([index, { name }]) => (
        <fieldset key={index}>
          <legend>{name}</legend>
          {Object.entries(edited[index] ?? {}).map(([argument, value]) => (
            <label key={argument}>
              {argument}
              <input value={String(value)} onChange={({ target }) => change(index, argument, target.value)} />
            </label>
          ))}
        </fieldset>
      ))}
      <button type="button" onClick={() => decide({ decisions: approved })}>
        Approve
      </button>
      <button type="button" onClick={() => decide({ decisions: requests.map(() => ({ type: 'reject' })) })}>
        Reject
      </button>
    </section>
  );
}
