/** What `docker build` is told: a name, a folder, and what differs from its defaults. */
export interface Build {
  readonly tag: string;
  readonly context: string;
  readonly target?: string;
}

/** The flags of `docker build`, which are those of buildah too. */
export function buildFlags({ tag, context, target }: Build): string[] {
  return ['--tag', tag, ...(target === undefined ? [] : ['--target', target]), context];
}
