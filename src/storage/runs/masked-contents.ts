import { toJson } from '../../core/json.ts';
import type { MaskSecrets } from '../../core/mask-secrets.ts';
import { textDigest } from '../../core/text.ts';
import type { RecordedContents } from '../../schemas/step-contents.ts';

/** Names of the texts that steps of a thread may share; `own`: what belongs to the step alone, if it is long. */
export type SharedName = 'messages' | 'tools' | 'answer' | 'failure' | 'repeats' | 'own';

/**
 * Characters of what belongs to a step alone that are stored in its row. In SQLite a row of `run_steps` beyond a thousand
 * bytes takes a page of 4 kB for itself.
 */
const MAX_OWN = 500;

/** A text that steps of a thread may share, and what identifies it in storage. */
export interface SharedText {
  readonly hash: string;
  /** Absent if an earlier step of the attempt has brought it. */
  readonly text?: string | undefined;
}

/** What is stored of a step's contents, without secrets. */
export interface MaskedContents {
  readonly shared: readonly (readonly [SharedName, readonly SharedText[]])[];
  /** JSON of what belongs to the step alone; undefined if that is nothing, or among `shared`. */
  readonly own: string | undefined;
  /** Characters of all that is new. */
  readonly size: number;
}

/**
 * Masks what the steps of one attempt were given and returned, as in logs. Texts cross the process boundary by digests of
 * what they were; they are stored by hashes of what they are.
 */
export class ContentsMask {
  readonly #mask: MaskSecrets;
  readonly #hashes = new Map<string, string>();

  constructor(mask: MaskSecrets) {
    this.#mask = mask;
  }

  masked(recorded: RecordedContents): MaskedContents {
    const texts = new Map(Object.entries(recorded.texts ?? {}));
    const shared = (digests: readonly string[]) => digests.map((digest) => this.#shared(digest, texts));
    const lists = (['messages', 'tools', 'answer', 'failure', 'repeats'] as const).flatMap((name) => {
      const digests = [recorded[name] ?? []].flat();
      return digests.length === 0 ? [] : [[name, shared(digests)] as const];
    });
    const own = this.#own(recorded);
    const fresh = lists.flatMap(([, all]) => all).reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
    const size = fresh + (own?.length ?? 0);
    if (own === undefined || own.length <= MAX_OWN) return { shared: lists, own, size };
    return { shared: [...lists, ['own', [{ hash: textDigest(own), text: own }]]], own: undefined, size };
  }

  #shared(digest: string, texts: Map<string, string>): SharedText {
    const known = this.#hashes.get(digest);
    if (known !== undefined) return { hash: known };
    const given = texts.get(digest);
    if (given === undefined) return { hash: textDigest(MISSING), text: MISSING };
    const text = this.#mask(given);
    const hash = textDigest(text);
    this.#hashes.set(digest, hash);
    return { hash, text };
  }

  #own({ parameters, input, output }: RecordedContents): string | undefined {
    const members = Object.entries({ parameters, input, output }).filter(([, json]) => json !== undefined);
    if (members.length === 0) return undefined;
    return this.#mask(`{${members.map(([name, json]) => `"${name}":${json}`).join(',')}}`);
  }
}

/** Stands for a text of an earlier step that was not kept. */
const MISSING = toJson({ role: 'note', content: '… (not kept: too large)' });
