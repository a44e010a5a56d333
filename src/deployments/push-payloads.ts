/** A ref that was pushed or deleted. */
export interface PushedRef {
  /** In full: `refs/heads/main`. */
  readonly ref?: string | undefined;
  /** The commit that it stands for now; absent if it was deleted, or the service does not say. */
  readonly sha?: string | undefined;
  readonly deleted?: boolean | undefined;
}

type Body = Readonly<Record<string, unknown>>;

const SHA = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
/** What git sends in place of a commit that is not there. */
const NO_COMMIT = /^0+$/;

/** Events that are no push, and need no explanation. */
const GREETINGS = new Set(['ping', 'diagnostics:ping']);

/** What a hook says was pushed, or why it says nothing of the kind. */
export function pushedRefs(kind: string, event: string, body: Body): PushedRef[] | string {
  if (GREETINGS.has(event)) return 'The service only tried out the hook.';
  const refs = kind === 'bitbucket' ? bitbucketRefs(event, body) : refsOf(kind, event, body);
  if (refs === undefined) return `The event ${event} is not a push.`;
  return refs.length === 0 ? 'Nothing was pushed.' : refs;
}

/** GitHub, GitLab and Gitea say which branch is the default one. */
export function defaultBranch(body: Body): string | undefined {
  const { repository, project } = body;
  const name = textOf(objectOf(repository)['default_branch']) ?? textOf(objectOf(project)['default_branch']);
  return name && fullName(name, 'heads');
}

function refsOf(kind: string, event: string, body: Body): PushedRef[] | undefined {
  // Gitea and GitHub also report a deletion as an event of its own, with the short name.
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
  // A generic hook without a ref asks for the branch of the deployment.
  if (!ref) return kind === 'generic' ? [pushed(undefined, after, false)] : [];
  return [pushed(fullName(ref, 'heads'), after, body['deleted'] === true)];
}

function pushed(ref: string | undefined, sha: string | undefined, deleted: boolean): PushedRef {
  const isDeleted = deleted || (sha !== undefined && NO_COMMIT.test(sha));
  return { ref, ...(isDeleted ? { deleted: true } : { sha: sha && SHA.test(sha) ? sha : undefined }) };
}

/** Bitbucket Cloud lists changes of branches and tags; Bitbucket Data Center changes of refs. */
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
