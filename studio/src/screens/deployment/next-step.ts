import type { Deployment, Revision } from '../../api/control-plane.ts';
import { isFailed, isOpen } from '../deployments/revision-state.ts';

/** What the reader can do next, and the command for it if there is one. */
export interface NextStep {
  readonly text: string;
  readonly command?: string;
}

interface Standing {
  readonly deployment: Deployment;
  readonly active: Revision | undefined;
  readonly latest: Revision | undefined;
  /** The revision that a rollback would go to. */
  readonly previous: Revision | undefined;
  /** URL of the server. */
  readonly server: string;
  /** Callers of the server authenticate, and so do those of its deployments. */
  readonly authentication: boolean;
}

export function nextStep({ deployment, active, latest, previous, ...standing }: Standing): NextStep {
  const { name, source, source_config } = deployment;
  const from = source === 'github' ? (source_config.repo_url ?? '.') : '.';
  const command = `npx agent-server deploy ${from} --name ${name} --url ${standing.server}`;
  if (!latest) return { text: 'Send it sources: nothing has been deployed yet.', command };
  const serving = active && active.id !== latest.id ? ` Revision ${active.number} goes on serving.` : '';
  if (isOpen(latest)) {
    const step = latest.build_steps.at(-1)?.name;
    const what = step === undefined ? 'It waits for its turn' : `It is at the step “${step}”`;
    return { text: `Wait. ${what}; interrupt it if it should not go on.${serving}` };
  }
  if (isFailed(latest)) {
    const back = active || !previous ? '' : ` Or go back to revision ${previous.number}.`;
    return { text: `Put right what failed, and deploy again.${serving}${back}`, command };
  }
  if (latest.id !== active?.id) return { text: `Deploy it again when you want to.${serving}`, command };
  const keys = ' Its callers need keys that were created in it, such as in its Studio.';
  return { text: `Call it: its /docs show how.${standing.authentication ? keys : ''}` };
}
