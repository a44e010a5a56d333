import { z } from 'zod';

/*
 * Maxima of the texts and lists of a request. They are far beyond what clients send: their purpose is that nothing which
 * a request repeats for each row, event or step is longer than this. JSON that only the graph interprets has no other
 * maximum than the body limit.
 */

/** A name, an id, a label: also a part of the path of a URL. */
export const MAX_NAME_LENGTH = 1024;
/** A checkpoint namespace, which joins the names and task ids of nested subgraphs; a path to a member. */
const MAX_PATH_LENGTH = 8192;
/** A description, or a text to search for. */
const MAX_TEXT_LENGTH = 65_536;
/** A timestamp or a number, written as text. */
export const MAX_SCALAR_LENGTH = 64;

/** Names of fields, nodes, tags, events. */
export const MAX_NAMES = 1000;
/** Ids of rows, runs of a batch, messages, updates. */
export const MAX_ITEMS = 10_000;
/** Updates of one superstep, which LangGraph writes without a pause: a fifth of a millisecond for each. */
export const MAX_UPDATES = 200;
/** Parts of the content of one message. */
export const MAX_PARTS = 1000;
/** Media types, and ways to authenticate: matched against each part of a message. */
export const MAX_MODES = 100;
/** Labels of a namespace, of the store or of a subgraph. */
const MAX_LABELS = 100;

export const Name = z.string().max(MAX_NAME_LENGTH);
export const LongPath = z.string().max(MAX_PATH_LENGTH);
export const Text = z.string().max(MAX_TEXT_LENGTH);
export const Names = z.array(Name).max(MAX_NAMES);
export const Labels = z.array(Name).max(MAX_LABELS);

/** A list in which an item counts once, however often it is sent. */
export function uniqueList<T extends z.ZodType>(item: T, max = MAX_NAMES) {
  return z
    .array(item)
    .max(max)
    .transform((items) => [...new Set(items)]);
}

/** An object with few keys: each is work for every row. */
export function smallRecord<K extends z.ZodString, V extends z.ZodType>(key: K, value: V, max: number) {
  return z
    .record(key, value)
    .refine((members) => Object.keys(members).length <= max, `must have at most ${max} keys`)
    .meta({ maxProperties: max });
}
