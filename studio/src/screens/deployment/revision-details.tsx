import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Revision } from '../../api/control-plane.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Ago } from '../../ui/format.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { RevisionPill } from '../deployments/revision-pill.tsx';
import { Log } from './log.tsx';
import { Steps } from './steps.tsx';

const TABS = [
  { name: 'build', label: 'Build log' },
  { name: 'server', label: 'Server log' },
] as const;

interface RevisionDetailsProps {
  readonly revision: Revision;
  readonly name: string;
  readonly actions: ReactNode;
}

/** One revision: its source, steps, failure and logs. */
export function RevisionDetails({ revision, name, actions }: RevisionDetailsProps) {
  const { tab } = useSearch({ from: '/deployments/$deploymentId' });
  const open = tab === 'server' ? 'server' : 'build';
  const kind = open === 'server' ? 'deploy' : 'build';
  const { number, failure } = revision;
  return (
    <Card className="flex flex-none flex-col gap-4 p-4">
      <header className="flex flex-wrap items-center gap-2.5">
        <h2 className="text-base font-semibold">Revision {number}</h2>
        <RevisionPill revision={revision} />
        <div className="ml-auto flex gap-2">{actions}</div>
      </header>
      {failure && (
        <div role="alert" className="flex flex-col gap-1 rounded-lg bg-err-bg px-3 py-2 text-err">
          <p className="font-medium">
            Failed at the step “{failure.step}” <span className="font-mono text-xs">{failure.code}</span>
          </p>
          <p className="break-words whitespace-pre-wrap">{failure.hint}</p>
        </div>
      )}
      <div className="grid gap-x-8 gap-y-4 lg:grid-cols-2">
        <Steps revision={revision} />
        <Source revision={revision} />
      </div>
      <Tabs tabs={TABS} open={open} />
      <Log key={`${revision.id} ${kind}`} revision={revision} kind={kind} name={name} />
    </Card>
  );
}

function Source({ revision }: { revision: Revision }) {
  const { commit, source, source_revision_config: config, created_at, is_built } = revision;
  const facts: (readonly [string, ReactNode])[] = [['Queued', <Ago key="queued" at={created_at} />]];
  if (source !== 'github') facts.push(['Source', 'uploaded']);
  if (config.repo_ref) facts.push(['Branch or tag', config.repo_ref]);
  if (commit) {
    facts.push(
      [
        'Commit',
        <span key="commit" className="inline-flex items-center" title={commit.sha}>
          <span className="font-mono text-xs">{commit.sha.slice(0, 12)}</span>
          <CopyButton text={commit.sha} what="the commit" className="h-5" />
        </span>,
      ],
      [
        'Message',
        <span key="message" className="line-clamp-3 whitespace-pre-wrap">
          {commit.message}
        </span>,
      ],
    );
    if (commit.author) facts.push(['Author', commit.author]);
    if (commit.time) facts.push(['Committed', <Ago key="time" at={commit.time} />]);
  }
  if (config.langgraph_config_path) facts.push(['Configuration', config.langgraph_config_path]);
  facts.push(['Build', is_built ? 'kept: deploying it again needs no build' : 'not kept']);
  return <Facts items={facts} />;
}
