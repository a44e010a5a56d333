import { InvalidInput } from '../../../core/errors.ts';
import type { DeploymentSource, SourceConfig, SourceRevisionConfig } from '../schemas/deployments.ts';
import type { DeploymentFiles } from '../storage/files.ts';

export interface SourceRules {
  readonly files: Pick<DeploymentFiles, 'hasUpload'>;
  /** `file:` URLs are accepted. */
  readonly allow_local_sources: boolean;
}

/** What a revision of a deployment would be built from. */
export interface SourceChoice {
  readonly deployment_id: string;
  readonly source: DeploymentSource;
  readonly source_config: SourceConfig;
  readonly source_revision_config: SourceRevisionConfig;
}

/** A branch, tag or commit that no program parses as an option. */
const REF = /^(?!-)[\w./@+-]{1,255}$/;
/** `git@github.com:me/agent.git` */
const SCP_LIKE = /^(?:[\w.-]+@)?[\w.-]+:(?!\/\/)[\w./~-]+$/;
const PROTOCOLS = ['https:', 'ssh:'];

/** Throws `InvalidInput` that names the invalid field. */
export function checkSource(
  { source, source_config: { repo_url }, source_revision_config: revision }: SourceChoice,
  { allow_local_sources }: Pick<SourceRules, 'allow_local_sources'>,
): void {
  if (source.endsWith('_docker')) {
    throw new InvalidInput(
      `source: ${source} is not supported: this server neither builds nor pulls images. Use github with any git URL, or internal_source.`,
    );
  }
  if (source === 'github') checkUrl(repo_url, allow_local_sources);
  const { repo_ref, langgraph_config_path: path } = revision;
  if (repo_ref != null && !REF.test(repo_ref)) {
    throw new InvalidInput(
      'source_revision_config.repo_ref: must be a branch name, or a tag as refs/tags/<tag>',
    );
  }
  if (path != null && (path.startsWith('/') || path.startsWith('-') || path.split(/[\\/]/).includes('..'))) {
    throw new InvalidInput('source_revision_config.langgraph_config_path: must be a path inside the sources');
  }
}

function checkUrl(url: string | null | undefined, allow_local: boolean): void {
  const problem = urlProblem(url, allow_local);
  if (problem !== undefined) throw new InvalidInput(`source_config.repo_url: ${problem}`);
}

function urlProblem(url: string | null | undefined, allow_local: boolean): string | undefined {
  if (url == null || url === '') return 'is required for source github';
  if (url.startsWith('-')) return 'must be the URL of a git repository';
  if (SCP_LIKE.test(url)) return undefined;
  const parsed = URL.parse(url);
  if (!parsed) return 'must be the URL of a git repository';
  const { protocol, username, password } = parsed;
  if (password !== '' || (username !== '' && protocol !== 'ssh:')) return 'must not contain credentials';
  if (protocol === 'file:') {
    return allow_local
      ? undefined
      : 'file: URLs are not allowed unless the server sets deployments.allow_local_sources';
  }
  return PROTOCOLS.includes(protocol) ? undefined : 'must be an https or ssh URL';
}

/** Whether there is anything to build: an internal source is empty until something is uploaded. */
export function namesSource({
  source,
  source_revision_config: { source_tarball_path: path },
}: Pick<SourceChoice, 'source' | 'source_revision_config'>): boolean {
  return source !== 'internal_source' || (path != null && path !== '');
}

/** Whether it names a source. Throws `InvalidInput` if the named upload does not exist. */
export async function hasSource(
  choice: SourceChoice,
  { files }: Pick<SourceRules, 'files'>,
): Promise<boolean> {
  if (!namesSource(choice)) return false;
  const { deployment_id, source, source_revision_config } = choice;
  if (source !== 'internal_source') return true;
  if (await files.hasUpload(deployment_id, source_revision_config.source_tarball_path ?? '')) return true;
  throw new InvalidInput(
    'source_revision_config.source_tarball_path: nothing was uploaded there; create an upload URL and upload the sources first',
  );
}
