import { useQuery } from '@tanstack/react-query';
import { type ErrorComponentProps, Outlet, useRouter } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { useLiveQueries } from '../api/changes.ts';
import { callerKey, sessionQuery } from '../api/session.ts';
import { Page } from '../ui/page.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { Notices } from './notices.tsx';
import { Sidebar } from './sidebar.tsx';
import { SignIn, SignInAgain } from './sign-in.tsx';
import { TopBar } from './top-bar.tsx';

/**
 * What is around every screen; without a session, the way to one. When a session ends, the screen stays below that, so that
 * nothing that is being written is lost.
 */
export function Shell() {
  const router = useRouter();
  const { data: session, error, isPending, refetch } = useQuery(sessionQuery);
  // A key for deployments only may not hear of anything else.
  const isHearing =
    session?.signed_in === true && !session.has_ended && session.scope !== 'deployments:write';
  const isAway = useLiveQueries(isHearing ? `${session.viewing_as} ${session.expires_at}` : undefined);
  const hasEnded = session?.has_ended === true;
  // A screen that could not be shown without a session is tried again with one.
  useEffect(() => (hasEnded ? () => void router.invalidate() : undefined), [hasEnded, router]);
  if (isPending) return <Loading what="Studio" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!session.signed_in) return <SignIn session={session} />;
  return (
    // For another caller everything begins anew.
    <div
      key={callerKey(session)}
      className="grid h-full grid-rows-[auto_1fr] md:grid-cols-[196px_1fr] md:grid-rows-1"
    >
      {hasEnded && <SignInAgain session={session} />}
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-10 focus:bg-panel focus:p-2"
      >
        Skip to content
      </a>
      <Sidebar />
      <div className="flex min-h-0 min-w-0 flex-col">
        <TopBar />
        <Notices isAway={isAway} />
        <Suspense fallback={<Loading what="the page" />}>
          <Outlet />
        </Suspense>
      </div>
    </div>
  );
}

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p className="text-ink-2">The address may be of another version of Studio.</p>
    </Page>
  );
}

/** A screen that fails leaves the rest usable. */
export function ScreenFailure({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page has a problem">
      <Failure error={error} retry={reset} />
    </Page>
  );
}
