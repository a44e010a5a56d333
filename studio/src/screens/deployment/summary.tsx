import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Deployment, Revision } from '../../api/control-plane.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Ago, byteSize, count, duration } from '../../ui/format.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Pill } from '../../ui/pill.tsx';
import { stateSince } from '../deployments/revision-state.ts';
import { healthQuery, pagesQuery, type Usage, usageQuery } from './served.ts';

interface SummaryProps {
  readonly deployment: Deployment;
  readonly active: Revision | undefined;
}

/** What does not change with the selected revision. */
export function Summary({ deployment, active }: SummaryProps) {
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
      <Served url={config.custom_url ?? ''} active={active} />
      <Panel title="Source">
        <Facts items={settings} />
      </Panel>
      <Panel title="Secrets">
        {secrets.length === 0 ? (
          <p className="text-ink-3">None. Set them with agent-server deploy --env-file .env</p>
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

/** Where it is served, by which revision since when, and how it is. */
function Served({ url, active }: { url: string; active: Revision | undefined }) {
  const { data: pages } = useQuery(pagesQuery(url, active?.id));
  const { data: usage } = useQuery(usageQuery(url, active?.id));
  return (
    <Panel title="Served">
      <p className="font-mono text-xs break-all">{url}</p>
      {active ? (
        <Facts
          items={[
            ['By', `revision ${active.number}`],
            ['Since', <Ago key="since" at={stateSince(active)} />],
            ['Health', <HealthOf key="health" url={url} />],
            ...(usage ? [['Processes', usageText(usage)] as const] : []),
          ]}
        />
      ) : (
        <p className="text-ink-3">Nothing is served there yet.</p>
      )}
      <p className="-ml-2.5 flex flex-wrap items-center gap-x-4">
        <CopyButton text={url} what="the address" />
        {active && pages?.hasDocs && <Outside href={`${url}/docs`}>Open its /docs</Outside>}
        {active && pages?.hasStudio && <Outside href={`${url}/studio`}>Open its Studio</Outside>}
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

function HealthOf({ url }: { url: string }) {
  const { data } = useQuery(healthQuery(url));
  if (!data) return <span className="text-ink-3">not known</span>;
  const { isHealthy, detail, took_ms, at } = data;
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Pill tone={isHealthy ? 'ok' : 'err'}>{isHealthy ? 'healthy' : 'not healthy'}</Pill>
      <span className="text-ink-2">{isHealthy ? `in ${duration(took_ms)}` : detail}</span>
      <span className="text-ink-3">
        <Ago at={new Date(at).toISOString()} />
      </span>
    </span>
  );
}

function usageText({ hosts, memory_bytes, runs }: Usage): string {
  return `${count(hosts)} ready, ${byteSize(memory_bytes)}, ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`;
}
