import { BuildFailure } from '../build-failure.ts';
import { checkRef, isCommitId } from './address.ts';
import type { GitRemote } from './git.ts';

/** A ref and the commit that it currently points to. */
export interface FoundRef {
  /** Full name, such as `refs/heads/main`; a commit id stands for itself. */
  readonly ref: string;
  readonly sha: string;
}

/** Looks up a ref in the remote repository. A branch takes precedence over a tag of the same name. */
export async function findRef(remote: GitRemote, ref: string): Promise<FoundRef> {
  checkRef(ref);
  if (isCommitId(ref)) return { ref, sha: ref };
  const names = candidates(ref);
  const patterns = ['HEAD', ...names, ...names.map((name) => `${name}^{}`)];
  const output = await remote.run(['ls-remote', '--symref', '--', remote.address.url, ...patterns]);
  const { shas, head } = parseRefs(output);
  const name = names.find((each) => shas.has(each));
  // For an annotated tag, the commit that it points to.
  const sha = name && (shas.get(`${name}^{}`) ?? shas.get(name));
  if (!name || !sha) throw refNotFound(ref, head, shas.size === 0);
  return { ref: name, sha };
}

function candidates(ref: string): string[] {
  if (ref === 'HEAD' || ref.startsWith('refs/')) return [ref];
  return [`refs/heads/${ref}`, `refs/tags/${ref}`];
}

function parseRefs(output: string): { shas: Map<string, string>; head: string | undefined } {
  const lines = output.split('\n').map((line) => line.split('\t') as [string, string]);
  const shas = new Map(lines.filter(([sha]) => isCommitId(sha)).map(([sha, name]) => [name, sha]));
  const head = lines.find(([left, name]) => left.startsWith('ref: ') && name === 'HEAD')?.[0];
  return { shas, head: head?.replace('ref: refs/heads/', '') };
}

function refNotFound(ref: string, head: string | undefined, isEmpty: boolean): BuildFailure {
  const usual = head ? ` Its default branch is ${head}.` : '';
  return new BuildFailure('source', {
    code: 'ref_not_found',
    message: isEmpty ? `The repository has no ${ref}.` : `The repository has no ${ref}.${usual}`,
    hint: 'Check the name, and that it was pushed; name a tag as refs/tags/NAME.',
  });
}
