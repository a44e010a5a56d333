import { expect, test } from 'vitest';
import { commentTexts } from './support/comment-texts.ts';
import { declaredNames, wordsOf } from './support/declared-names.ts';

interface Term {
  /** Words of a name, as a regular expression; with a capital letter, the whole name. A file name ends in `.ts`. */
  readonly ours: string;
  /** What the field says. */
  readonly standard: string;
  /** Only files that match; elsewhere the word has its usual meaning. */
  readonly in?: RegExp;
}

/** Words that only this project used, with the standard terms that replace them. */
const TERMS: readonly Term[] = [
  { ours: 'grounds?|works', standard: 'AppContext or deps' },
  { ours: 'promised|relaxed', standard: 'sync and async commit' },
  { ours: 'attempt writes', standard: 'WriteBuffer or unit of work' },
  { ours: 'open attempts', standard: 'ActiveAttempts' },
  { ours: 'conclusions?|concluded?', standard: 'finalize-run' },
  { ours: 'patiently', standard: 'retryWhileUnavailable' },
  { ours: 'outlines?', standard: 'value summary or search projection' },
  { ours: 'blind$', standard: 'blind index' },
  { ours: 'look up', standard: 'lateralJoin' },
  { ours: 'parked', standard: 'blocked or waiting' },
  { ours: 'own app|own tools|post own', standard: 'custom app, custom tools' },
  { ours: 'inside|passages?', standard: 'in-process request, InternalRequest' },
  { ours: 'impatient', standard: 'short keep-alive' },
  { ours: 'signs of life', standard: 'heartbeat' },
  { ours: 'origin rules?', standard: 'cors origin check' },
  { ours: 'own address', standard: 'publicUrl' },
  { ours: 'admissions?', standard: 'authenticate hook' },
  { ours: 'Admit', standard: 'authenticate hook' },
  { ours: 'nearest.ts', standard: 'didYouMean' },
  { ours: 'facts', standard: 'card data, task context' },
  { ours: 'upkeep', standard: 'thread maintenance' },
  { ours: 'answered', standard: 'resolvedTasks' },
  { ours: 'changed values', standard: 'diffChannels' },
  { ours: 'project value', standard: 'importFromProject' },
  { ours: 'settle[a-z]*', standard: 'flush, refreshThread, ack or finalizeTask' },
  { ours: 'standings?', standard: 'queue position, heldLeases' },
  { ours: 'put off', standard: 'defer' },
  { ours: 'strays?', standard: 'removeOrphans' },
  { ours: 'let go', standard: 'acknowledgeCancel or release' },
  { ours: 'release|put back', standard: 'requeue', in: /^storage\/queue\// },
  { ours: 'figures', standard: 'metrics or stats' },
  { ours: 'Once', standard: 'IdempotencyContext' },
  { ours: 'growing list', standard: 'append-delta blob' },
  { ours: 'milestones?', standard: 'keyframe' },
  { ours: 'appendix|appendices', standard: 'delta' },
  { ours: 'seal(?:s|ed|er|ers|ing)?', standard: 'encrypt, Encryptor' },
  { ours: 'Unreadable', standard: 'DecryptionError' },
  { ours: 'walks?|walked|stroll', standard: 'keyset scan' },
  { ours: 'stretch(?:es)?', standard: 'page' },
  { ours: 'FEW', standard: 'a threshold with its unit' },
  { ours: 'MANY', standard: 'a threshold with its unit' },
  { ours: 'hints?|control|scheduled|outbox', standard: 'run.updated, run.cancelled, …', in: /^events\// },
  { ours: 'doors?', standard: 'handler, authHook, dev proxy' },
  { ours: 'late results?|send late', standard: 'keep-alive JSON reply' },
  { ours: 'half requests?', standard: 'incomplete requests' },
  { ours: 'safe json', standard: 'secureJsonParse' },
  { ours: 'IdentityOf', standard: 'impersonate' },
  { ours: 'act for', standard: 'impersonate' },
  { ours: 'feeds?', standard: 'subscriptions, broadcast' },
  { ours: 'breaths?', standard: 'debounce' },
  { ours: 'guarded', standard: 'authorization gate' },
  { ours: 'notices?', standard: 'push notifications' },
  { ours: 'news', standard: 'progress or event' },
  { ours: 'pieces?', standard: 'chunks' },
  { ours: 'thread alias', standard: 'threadIdFromName' },
  { ours: 'mirror context', standard: 'syncConfigurable' },
  { ours: 'cli/explain.ts', standard: 'reportError' },
  { ours: 'tells?|told', standard: 'notify' },
  { ours: 'shown', standard: 'publish, visible' },
  { ours: 'kept', standard: 'stored' },
  { ours: 'asks', standard: 'requires' },
];

/** Names that are stored: changing them needs a migration of everybody's data. */
const STORED: readonly { words: string; in: RegExp; why: string }[] = [
  {
    words: 'shown url',
    in: /^(db|storage\/(webhooks|encryption)|workers)\//,
    why: 'SQL column webhook_outbox.shown_url',
  },
  { words: 'sealed', in: /^storage\/checkpoints\/metadata\.ts$/, why: 'member __sealed of stored metadata' },
];

/** Each name once, with its words; those that are stored are left out of `words`. */
const declared = (await declaredNames()).map(({ name, file }) => {
  const all_words = wordsOf(name);
  const stored = STORED.filter((each) => each.in.test(file));
  return {
    name,
    file,
    all_words,
    words: stored.reduce((words, each) => words.replace(each.words, ''), all_words),
  };
});

function matcherOf({ ours, in: where }: Term): (declaration: (typeof declared)[number]) => boolean {
  const pattern = new RegExp(`\\b(?:${ours})\\b`);
  const isFile = ours.endsWith('.ts');
  const isWhole = /[A-Z]/.test(ours);
  return ({ name, file, words }) => {
    if (where && !where.test(file)) return false;
    if (isFile) return name === file && `/${file}`.endsWith(`/${ours}`);
    return isWhole ? name === ours : pattern.test(words);
  };
}

test('names of files and identifiers are terms of the field', () => {
  const wrong = TERMS.flatMap((term) =>
    declared
      .filter(matcherOf(term))
      .map(({ name, file }) => `src/${file}: ${name === file ? 'its name' : name} → ${term.standard}`),
  );

  expect(declared.length).toBeGreaterThan(10_000);
  expect([...new Set(wrong)]).toEqual([]);
});

test('every stored name that is an exception still exists', () => {
  const unused = STORED.filter(
    ({ words, in: where }) =>
      !declared.some(({ file, all_words }) => where.test(file) && ` ${all_words} `.includes(` ${words} `)),
  );

  expect(unused).toEqual([]);
});

/** Phrases that read as translated, with what to write instead. */
const PHRASES: readonly { readonly ours: RegExp; readonly plain: string }[] = [
  { ours: /\b(?:of|by|as) which\b/i, plain: 'a sentence of its own, `whose`, `so that`' },
  { ours: /\bbeside\b/i, plain: 'next to, alongside, besides, in addition to' },
  { ours: /\b(?:go|goes|going|went|gone) on\b/i, plain: 'continue' },
  { ours: /\b(?:is|are|was|were|be|been) over\b/i, plain: 'has ended' },
  { ours: /\bso long\b(?! (?:as|that)\b)/i, plain: 'this long, until then' },
  {
    ours: /\b(?:nobody|somebody|anybody|whoever)\b/i,
    plain: 'the client, process or user that is meant; anyone',
  },
  { ours: /\b(?:has|have|had) none\b/i, plain: 'is empty, lacks it, without any' },
  { ours: /\b(?:says|said)\b/i, plain: 'reports, names, means' },
];

const comments = commentTexts();

test('comments of the server and of Studio are plain English', () => {
  const wrong = comments.flatMap(({ at, text }) =>
    PHRASES.flatMap(({ ours, plain }) => {
      const [found] = ours.exec(text) ?? [];
      return found === undefined ? [] : [`${at}: “${found}” → ${plain}`];
    }),
  );

  expect(comments.length).toBeGreaterThan(6_000);
  expect(comments.some(({ at }) => at.startsWith('studio/src/'))).toBe(true);
  expect(wrong).toEqual([]);
});
