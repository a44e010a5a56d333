import { Moon, Sun } from 'lucide-react';
import { useState } from 'react';
import { useSession, useSignIn, useSignOut } from '../api/session.ts';
import { toggleTheme, useLook } from '../theme.ts';
import { Button } from '../ui/button.tsx';
import { Palette } from './palette.tsx';
import { useMayViewAs, ViewAs } from './view-as.tsx';

/** Top bar: whose view this is, search and theme. */
export function TopBar() {
  const { authentication, viewing_as, user, read_only } = useSession();
  const [isChoosingUser, setChoosingUser] = useState(false);
  const viewAs = useMayViewAs() ? () => setChoosingUser(true) : undefined;
  const signIn = useSignIn();
  const signOut = useSignOut();
  const isDark = useLook() === 'dark';
  return (
    <header className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-5 py-2 max-sm:gap-x-1 max-sm:px-2.5">
      {viewing_as !== null && (
        <p className="flex items-center gap-2 rounded-md bg-wait-bg px-2 text-wait">
          Seen as {viewing_as}
          <Button look="quiet" onClick={() => signIn.mutate({ view_as: null })}>
            End
          </Button>
        </p>
      )}
      {read_only && <p className="rounded-md bg-idle-bg px-2 text-ink-2">Read only</p>}
      {user !== null && viewing_as === null && <p className="text-ink-2">{user}</p>}
      {viewAs && (
        // On small screens it is in the palette.
        <Button look="quiet" className="max-sm:hidden" onClick={viewAs}>
          View as user
        </Button>
      )}
      <ViewAs open={isChoosingUser} onClose={() => setChoosingUser(false)} />
      <div className="ml-auto flex items-center gap-2 max-sm:gap-1">
        <Palette viewAs={viewAs} />
        <Button
          look="quiet"
          className="w-8 px-0!"
          aria-label="Dark theme"
          aria-pressed={isDark}
          title={isDark ? 'Light theme' : 'Dark theme'}
          onClick={toggleTheme}
        >
          {isDark ? <Sun size={16} aria-hidden /> : <Moon size={16} aria-hidden />}
        </Button>
        {authentication && (
          <Button look="quiet" onClick={() => signOut.mutate()}>
            Sign out
          </Button>
        )}
      </div>
    </header>
  );
}
