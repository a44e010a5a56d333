import { type StateMessage, textOf } from '../../services/conversation/messages.ts';

/** Where a model is called: LangGraph's namespace of the task, and the step of its graph. */
export interface Place {
  readonly task: string;
  readonly step: number;
}

/** A message, or a part of one if others came in between. */
interface Part {
  readonly id: unknown;
  readonly place: Place;
  text: string;
  /** What a reader of the stream has not got. */
  unsent: string;
  isComplete: boolean;
}

const PARAGRAPH = '\n\n';
const NOWHERE: Place = { task: '', step: 0 };

/**
 * The text of a run's messages, each of them a paragraph: `text` for a client that waits for all of it, `take` for one
 * that reads along. Messages that models generate at once are taken one after the other. A new attempt of the run
 * generates its messages again, except those that the state has already.
 */
export class AnswerText {
  #parts: Part[] = [];
  /** Parts of earlier attempts. */
  #abandoned: Part[] = [];
  /** What was taken of the current attempt. */
  #taken = '';
  /** What was taken of the attempt before; empty once the current attempt has caught up with it. */
  #takenBefore = '';
  /** The part whose text was taken last. */
  #last: Part | undefined;

  /** The messages of the current attempt and of the state. */
  get text(): string {
    const messages = Map.groupBy(this.#parts, (part) => part.id ?? part).values();
    return [...messages].map((parts) => parts.map(({ text }) => text).join('')).join(PARAGRAPH);
  }

  add({ id, text, isWhole }: { id: unknown; text: string; isWhole: boolean }, place: Place): void {
    const known = isWhole && id === undefined ? undefined : this.#parts.findLast((part) => part.id === id);
    if (isWhole && known) {
      known.isComplete = true;
      return;
    }
    if (known && !known.isComplete) {
      known.text += text;
      known.unsent += text;
      return;
    }
    if (!known) for (const part of this.#parts) part.isComplete ||= isLater(place, part.place);
    this.#parts.push({ id, place, text, unsent: text, isComplete: isWhole });
  }

  /** Adds a whole message that no model has streamed. */
  append(text: string): void {
    if (text !== '') this.add({ id: undefined, text, isWhole: true }, NOWHERE);
  }

  /** The root graph has a new state: its tasks have ended, and their messages are complete. */
  stateArrived(messages: readonly StateMessage[]): void {
    for (const part of this.#parts) part.isComplete = true;
    if (this.#abandoned.length === 0) return;
    for (const { id, content } of messages) {
      const text = textOf(content);
      // By its text as well: a node may return a message of its own with the text of the model.
      const isStored = (part: Part) => (id !== undefined && part.id === id) || part.text === text;
      const stored = this.#parts.some(isStored) ? undefined : this.#abandoned.findLast(isStored);
      if (!stored) continue;
      const unsent = this.#takenBefore === '' ? stored.unsent : stored.text;
      this.#parts.push({ ...stored, unsent, isComplete: true });
    }
  }

  /** Another attempt of the run begins. */
  retry(): void {
    this.#abandoned = [...this.#abandoned, ...this.#parts];
    this.#parts = [];
    this.#takenBefore ||= this.#taken;
    this.#taken = '';
    this.#last = undefined;
  }

  /** The next text for a client that reads along; empty if there is none yet. */
  take(): string {
    let next = '';
    for (const part of this.#parts) {
      if (part.unsent !== '') {
        next += this.#taken + next !== '' && part !== this.#last ? PARAGRAPH + part.unsent : part.unsent;
        this.#last = part;
        part.unsent = '';
      }
      if (!part.isComplete) break;
    }
    this.#taken += next;
    return this.#takenBefore === '' ? next : this.#beyondTakenBefore();
  }

  /** What the client has not got from the attempt before. Where the two differ, the message starts a new paragraph. */
  #beyondTakenBefore(): string {
    const before = this.#takenBefore;
    if (before.startsWith(this.#taken)) return '';
    this.#takenBefore = '';
    if (this.#taken.startsWith(before)) return this.#taken.slice(before.length);
    let same = 0;
    while (this.#taken[same] === before[same]) same += 1;
    const start = this.#taken.lastIndexOf(PARAGRAPH, same - PARAGRAPH.length);
    return PARAGRAPH + this.#taken.slice(start < 0 ? 0 : start + PARAGRAPH.length);
  }
}

/** Whether a message at `place` begins after the one at `other` is complete: later in its task, or in its graph. */
function isLater(place: Place, other: Place): boolean {
  return place.task === other.task || (graphOf(place) === graphOf(other) && place.step > other.step);
}

function graphOf({ task }: Place): string {
  return task.slice(0, Math.max(0, task.lastIndexOf('|')));
}
