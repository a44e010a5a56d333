import type { JsonText } from '../../db/json.ts';
import type {
  BuildStep,
  BuiltFolder,
  DeploymentSource,
  RevisionCommit,
  RevisionFailure,
  RevisionStatus,
  RevisionTrigger,
  SourceConfig,
  SourceRevisionConfig,
} from './schemas/deployments.ts';
import type { HookKind, HookOutcome } from './schemas/hooks.ts';

declare module '../../db/column-types.ts' {
  interface ColumnTypes {
    'deployment_hooks.kind': HookKind;
    'deployment_hooks.outcome': HookOutcome;
    'deployment_repositories.poll_failure': JsonText<RevisionFailure>;
    'deployment_revisions.build_steps': JsonText<BuildStep[]>;
    'deployment_revisions.built': JsonText<BuiltFolder>;
    'deployment_revisions.commit_info': JsonText<RevisionCommit>;
    'deployment_revisions.failure': JsonText<RevisionFailure>;
    'deployment_revisions.source': DeploymentSource;
    'deployment_revisions.source_revision_config': JsonText<SourceRevisionConfig>;
    'deployment_revisions.status': RevisionStatus;
    'deployment_revisions.triggered_by': RevisionTrigger;
    'deployments.source': DeploymentSource;
    'deployments.source_config': JsonText<SourceConfig>;
    'deployments.source_revision_config': JsonText<SourceRevisionConfig>;
  }
}
