import { Button } from '../../ui/button.tsx';
import { Json } from '../../ui/json.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import type { Choices } from './choices.ts';
import type { AnswerProps } from './review.ts';

/** Options that have a key: 1 to 9. */
const MAX_KEYS = 9;

/** A button for each answer that the question offers. */
export function ChoiceForm({
  choices: { options, rest },
  hasKeys,
  isDisabled,
  onAnswer,
  onJson,
}: AnswerProps & { choices: Choices }) {
  const keys = options.slice(0, MAX_KEYS).map(({ value }, i) => [String(i + 1), () => onAnswer(value)]);
  useShortcuts(Object.fromEntries(keys), hasKeys && !isDisabled);
  return (
    <>
      {Object.keys(rest).length > 0 && (
        // Leaves room for the buttons, which are what a person looks for.
        <div className="[&_pre]:max-h-32">
          <Json value={rest} label="Question" />
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        {options.map(({ label, value }, i) => (
          <Button
            // biome-ignore lint/suspicious/noArrayIndexKey: options have no identity but their position
            key={i}
            className="h-auto! min-h-7 py-0.5 max-w-full whitespace-normal!"
            disabled={isDisabled}
            onClick={() => onAnswer(value)}
          >
            <span className="min-w-0 break-words">{label}</span>
            {hasKeys && i < MAX_KEYS && <KeyHint>{String(i + 1)}</KeyHint>}
          </Button>
        ))}
        <Button look="quiet" disabled={isDisabled} onClick={onJson}>
          Another answer
        </Button>
      </div>
    </>
  );
}
