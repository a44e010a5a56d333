import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { controlPlane, type Deployment, type Revision } from '../../api/control-plane.ts';
import { isOpen } from './revision-state.ts';

/** Polling intervals during a build and otherwise, ms. A hidden page does not poll. */
const POLL_MS = { open: 1_000, quiet: 5_000 };
const PAGE = 20;

/** Polling interval for these revisions: `/system/changes` does not report deployments. */
export function pollOf(revisions: readonly (Revision | undefined)[]): number {
  return revisions.some((revision) => revision && isOpen(revision)) ? POLL_MS.open : POLL_MS.quiet;
}

/** Deployments, newest first. */
export const deploymentsQuery = infiniteQueryOptions({
  queryKey: ['deployment', 'list'],
  queryFn: async ({ pageParam }) => (await controlPlane.list(PAGE, pageParam)).resources,
  initialPageParam: 0,
  getNextPageParam: (page: readonly Deployment[], pages: readonly unknown[]) =>
    page.length < PAGE ? undefined : pages.length * PAGE,
  refetchInterval: POLL_MS.quiet,
});

export const revisionQuery = (id: string, revision_id: string | null) =>
  queryOptions({
    queryKey: ['deployment', id, 'revision', revision_id],
    queryFn: () => controlPlane.revision(id, revision_id ?? ''),
    enabled: revision_id !== null,
    refetchInterval: ({ state }) => pollOf([state.data]),
  });

/** The id of a revision's deployment. */
export const deploymentOfQuery = (revision_id: string) =>
  queryOptions({
    queryKey: ['deployment', 'of', revision_id],
    queryFn: async () => (await controlPlane.explainRevision(revision_id)).deployment_id,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** A deployment with its newest revisions, newest first. */
export const deploymentQuery = (id: string, limit: number) =>
  queryOptions({
    queryKey: ['deployment', id, { limit }],
    queryFn: async () => {
      const [deployment, { resources: revisions }] = await Promise.all([
        controlPlane.get(id),
        controlPlane.revisions(id, limit),
      ]);
      return { deployment, revisions };
    },
    placeholderData: (before, query) => (query?.queryKey[1] === id ? before : undefined),
    refetchInterval: ({ state }) => pollOf(state.data?.revisions ?? []),
  });

/** The current state of a deployment. Polled more often while a revision takes over. */
export const healthQuery = (id: string, revisions: readonly Revision[]) =>
  queryOptions({
    queryKey: ['deployment', id, 'health'],
    queryFn: () => controlPlane.health(id),
    refetchInterval: ({ state: { data } }) =>
      data && data.revisions.length > 1 ? POLL_MS.open : pollOf(revisions),
  });

export const hooksQuery = (id: string) =>
  queryOptions({
    queryKey: ['deployment', id, 'hooks'],
    queryFn: () => controlPlane.hooks(id),
    refetchInterval: POLL_MS.quiet,
  });

/** What the server signs in to the repository with; a build may pin the key of a host. */
export const repositoryAccessQuery = (id: string) =>
  queryOptions({
    queryKey: ['deployment', id, 'access'],
    queryFn: async () => {
      const [key, token] = await Promise.all([controlPlane.deployKey(id), controlPlane.token(id)]);
      return { key, token };
    },
    refetchInterval: POLL_MS.quiet,
  });
