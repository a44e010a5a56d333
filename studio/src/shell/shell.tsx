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
 * The frame around every screen, or the sign-in without a session. When a session ends, the screen stays mounted below the
 * sign-in, so that no draft is lost.
 */
export function Shell() {
  const router = useRouter();
  const { data: session, error, isPending, refetch } = useQuery(sessionQuery);
  // A deployments-only key may not receive other changes.
  const isHearing =
    session?.signed_in === true && !session.has_ended && session.scope !== 'deployments:write';
  const isAway = useLiveQueries(isHearing ? `${session.viewing_as} ${session.expires_at}` : undefined);
  const hasEnded = session?.has_ended === true;
  // Retry a screen that failed without a session.
  useEffect(() => (hasEnded ? () => void router.invalidate() : undefined), [hasEnded, router]);
  if (isPending) return <Loading what="Studio" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!session.signed_in) return <SignIn session={session} />;
  return (
    // The key resets everything for another caller.
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
    <Page title="Page not found">
      <p className="text-ink-2">Check the address: it may belong to another version of Studio.</p>
    </Page>
  );
}

/** Error boundary of a screen. The rest of Studio stays usable. */
export function ScreenFailure({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="Something went wrong">
      <Failure error={error} retry={reset} />
    </Page>
  );
}
