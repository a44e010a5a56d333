import type { Expression } from './expressions.ts';

/** Not linear, or not decided in time, and why no text of clients, graphs or libraries comes near them. */
export const SPARED: Readonly<Record<string, string>> = {
  'node.ts /\\/\\/.*@/': 'the address of the database, from the configuration',
  'node.ts /\\?.*$/': 'the address of the database, from the configuration',
  'config/substitute.ts /\\$\\$\\{|\\$\\{([A-Za-z_]\\w*)(?::-([^}]*))?\\}/g': 'the text of the configuration',
  'config/sections/storage.ts /^.+:.+$/': 'the configuration',
  'extensions/generative-ui/tailwind.ts /@(?:tailwind|theme|apply|utility|variant|custom-variant|reference|plugin|config|source)\\b|@import\\s+["\']tailwindcss/':
    'style sheets of the project; too many words to be decided in time',
};

/**
 * Foreign texts do come near these, but no procedure decides them: with their bounded repetitions the automaton has too
 * many states, which takes it a minute to find out. They only pass through the hard texts.
 */
export const UNDECIDED = new Set([
  'core/mask-secrets.ts /\\b((?:proxy-)?authorization[\\\\"\']{0,2}\\s{0,3}[:=]\\s{0,3}[\\\\"\']{0,2}(?:[a-z-]{1,20}\\s{1,3})?)[^\\s\\\\"\',;]{3,}/gi',
]);

/** Made at run time, and of what. */
export const MADE: Readonly<Record<string, string>> = {
  "http/header-patterns.ts new RegExp(`^${source}$`, 'i')":
    'a glob of the configuration, over the name of a header',
  'http/plugins/cors.ts new RegExp(`^(?:${allow_origin_regex})$`)':
    'the configuration, over the header Origin',
  'http/plugins/route-table.ts new RegExp(`^${source}$`)':
    'one of our paths, each part of it up to the next slash',
  'config/sections/http.ts new RegExp(text)': 'the configuration; it is only compiled',
  'extensions/deployments/serving/serving.ts new RegExp(`/threads/(${UUID})(?:/runs/(${UUID})/(?:graph|schemas|subgraphs)/?$)?(?=/|$)`)':
    'words and ids of a fixed length, so that each attempt ends within a hundred characters',
};

/** Each text once, wherever it stands, but those that see only trusted texts. */
export function examined(literals: readonly Expression[]): Expression[] {
  const distrusted = literals.filter((each) => !(nameOf(each) in SPARED));
  return [...new Map(distrusted.map((each) => [each.text, each])).values()];
}

export function nameOf({ file, text }: Expression): string {
  return `${file} ${text}`;
}
