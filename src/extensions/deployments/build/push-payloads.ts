/** A ref that was pushed or deleted. */
export interface PushedRef {
  /** Full name, such as `refs/heads/main`. */
  readonly ref?: string | undefined;
  /** The commit that it now points to; absent if the ref was deleted, or if the service does not report it. */
  readonly sha?: string | undefined;
  readonly deleted?: boolean | undefined;
}

type Body = Readonly<Record<string, unknown>>;

const SHA = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
/** The null commit id, which git sends when a ref was created or deleted. */
const NO_COMMIT = /^0+$/;

/** Test deliveries that services send when a hook is created. */
const GREETINGS = new Set(['ping', 'diagnostics:ping']);

/** Parses the pushed refs of a hook; a string is the reason why there are none. */
export function pushedRefs(kind: string, event: string, body: Body): PushedRef[] | string {
  if (GREETINGS.has(event)) return 'The git service sent a test delivery.';
  const refs = kind === 'bitbucket' ? bitbucketRefs(event, body) : refsOf(kind, event, body);
  if (refs === undefined) return `The event ${event} is not a push.`;
  return refs.length === 0 ? 'The push changed no branch or tag.' : refs;
}

/** GitHub, GitLab and Gitea report the default branch. */
export function defaultBranch(body: Body): string | undefined {
  const { repository, project } = body;
  const name = textOf(objectOf(repository)['default_branch']) ?? textOf(objectOf(project)['default_branch']);
  return name && fullName(name, 'heads');
}

function refsOf(kind: string, event: string, body: Body): PushedRef[] | undefined {
  // Gitea and GitHub also report a deletion as a separate event, with the short name of the ref.
  if (event === 'delete') {
    const folder = body['ref_type'] === 'tag' ? 'tags' : 'heads';
    return textOf(body['ref'])
      ? [{ ref: fullName(textOf(body['ref']) as string, folder), deleted: true }]
      : [];
  }
  const isPush = kind === 'gitlab' ? /^(Push|Tag Push) Hook$/.test(event) : event === 'push';
  if (!isPush && kind !== 'generic') return undefined;
  const ref = textOf(body['ref']);
  const after = textOf(body['after']) ?? textOf(body['sha']);
  // A generic hook without a ref deploys the branch of the deployment.
  if (!ref) return kind === 'generic' ? [pushed(undefined, after, false)] : [];
  return [pushed(fullName(ref, 'heads'), after, body['deleted'] === true)];
}

function pushed(ref: string | undefined, sha: string | undefined, deleted: boolean): PushedRef {
  const isDeleted = deleted || (sha !== undefined && NO_COMMIT.test(sha));
  return { ref, ...(isDeleted ? { deleted: true } : { sha: sha && SHA.test(sha) ? sha : undefined }) };
}

/** Bitbucket Cloud lists branch and tag changes; Bitbucket Data Center lists ref changes. */
function bitbucketRefs(event: string, body: Body): PushedRef[] | undefined {
  if (event === 'repo:push') return listOf(objectOf(body['push'])['changes']).flatMap(cloudRef);
  if (event === 'repo:refs_changed') return listOf(body['changes']).flatMap(dataCenterRef);
  return undefined;
}

function cloudRef(change: Body): PushedRef[] {
  const deleted = !change['new'];
  const state = objectOf(deleted ? change['old'] : change['new']);
  const name = textOf(state['name']);
  if (!name) return [];
  const ref = `refs/${state['type'] === 'tag' ? 'tags' : 'heads'}/${name}`;
  return [pushed(ref, textOf(objectOf(state['target'])['hash']), deleted)];
}

function dataCenterRef(change: Body): PushedRef[] {
  const ref = textOf(objectOf(change['ref'])['id']);
  if (!ref) return [];
  return [pushed(fullName(ref, 'heads'), textOf(change['toHash']), change['type'] === 'DELETE')];
}

function fullName(ref: string, folder: 'heads' | 'tags'): string {
  return ref.startsWith('refs/') ? ref : `refs/${folder}/${ref}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function objectOf(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {};
}

function listOf(value: unknown): Body[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}
