import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { STUDIO_NAME } from '../../api/base.ts';
import type { Deployment, DeploymentHealth } from '../../api/control-plane.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Ago, count } from '../../ui/format.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Pushes } from './pushes.tsx';
import { RepositoryAccess } from './repository-access.tsx';
import { pagesQuery } from './served.ts';
import { Settings } from './settings.tsx';

interface SummaryProps {
  readonly deployment: Deployment;
  readonly health: DeploymentHealth | undefined;
}

/** The facts that do not depend on the selected revision. */
export function Summary({ deployment, health }: SummaryProps) {
  const { source, source_config: config, secrets, created_at } = deployment;
  const settings: (readonly [string, ReactNode])[] = [
    ['From', source === 'github' ? (config.repo_url ?? '') : 'an upload'],
    ['Created', <Ago key="created" at={created_at} />],
  ];
  if (config.install_command)
    settings.push(['Install', <Command key="install" text={config.install_command} />]);
  if (config.build_command) settings.push(['Build', <Command key="build" text={config.build_command} />]);
  return (
    <aside className="flex min-w-0 flex-col gap-4">
      <Served url={config.custom_url ?? ''} health={health} />
      <Panel title="Source">
        <Facts items={settings} />
      </Panel>
      <Settings deployment={deployment} />
      {source === 'github' && <Pushes id={deployment.id} />}
      {source === 'github' && <RepositoryAccess id={deployment.id} url={config.repo_url ?? ''} />}
      <Panel title="Secrets">
        {secrets.length === 0 ? (
          <p className="text-ink-3">No secrets. Set them with agent-server deploy --env-file .env</p>
        ) : (
          <ul aria-label="Secrets" className="flex flex-wrap gap-1.5">
            {secrets.map(({ name }) => (
              <li key={name} className="rounded-md bg-sunk px-1.5 font-mono text-xs leading-5">
                {name}
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </aside>
  );
}

function Command({ text }: { text: string }) {
  return <code className="font-mono text-xs break-all">{text}</code>;
}

/** Where the deployment is served, its revision and since when, and its health. */
function Served({ url, health }: { url: string; health: DeploymentHealth | undefined }) {
  const active = health?.active_revision ?? undefined;
  const { data: pages } = useQuery(pagesQuery(url, active?.revision_id));
  return (
    <Panel title="Served">
      <p className="font-mono text-xs break-all">{url}</p>
      {active && (
        <Facts
          items={[
            ['By', `revision ${active.number}`],
            ['Since', <Ago key="since" at={active.since} />],
            ['Health', <HealthOf key="health" check={health?.check ?? null} />],
            ...(health?.queue ? [['Queue', queueText(health.queue)] as const] : []),
          ]}
        />
      )}
      {health && !active && <p className="text-ink-3">Nothing is served here yet.</p>}
      <p className="-ml-2.5 flex flex-wrap items-center gap-x-4">
        <CopyButton text={url} what="the address" />
        {active && pages?.hasDocs && <Outside href={`${url}/docs`}>Open API docs</Outside>}
        {active && pages?.hasStudio && <Outside href={`${url}${STUDIO_NAME}`}>Open Studio</Outside>}
      </p>
    </Panel>
  );
}

function Outside({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noreferrer" className="font-medium text-accent hover:underline">
      {children}
    </a>
  );
}

function HealthOf({ check }: { check: DeploymentHealth['check'] }) {
  if (!check) return <span className="text-ink-3">unknown</span>;
  const { ok, at, reason } = check;
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Pill tone={ok ? 'ok' : 'err'}>{ok ? 'healthy' : 'not healthy'}</Pill>
      <span className="text-ink-3">
        <Ago at={at} />
      </span>
      {reason !== null && <span className="min-w-0 break-words text-err">{reason}</span>}
    </span>
  );
}

function queueText({ pending, running }: NonNullable<DeploymentHealth['queue']>): string {
  return `${count(pending)} waiting, ${count(running)} running`;
}
