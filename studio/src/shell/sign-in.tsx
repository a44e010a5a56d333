import { type FormEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { type Session, useSignIn } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Field, TextInput } from '../ui/fields.tsx';

/** Asks for a key or token, which the server exchanges for a cookie. The page stores neither. */
export function SignIn({ session }: { session: Session }) {
  return (
    <SignInForm session={session} title="Agent Server">
      Create a key with <code className="font-mono">agent-server keys create</code>. This browser stores only
      a session cookie, valid for 12 hours.
    </SignInForm>
  );
}

/** Modal sign-in after a session has ended. The page below is hidden and inert, and continues where it was. */
export function SignInAgain({ session }: { session: Session }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [focused] = useState(() => document.activeElement);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    // Blocks the page's shortcuts. Native keys in fields and on buttons still work.
    const stop = (event: Event) => event.stopPropagation();
    addEventListener('keydown', stop, true);
    return () => {
      removeEventListener('keydown', stop, true);
      if (focused instanceof HTMLElement) focused.focus();
    };
  }, [focused]);
  return createPortal(
    <dialog
      ref={dialog}
      id="signed-out"
      aria-labelledby="sign-in-title"
      // Cannot be dismissed: if the browser closes it, it reopens.
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.showModal()}
      className="m-0 h-dvh max-h-none w-screen max-w-none border-0 bg-bg p-0 text-ink"
    >
      <SignInForm session={session} title="Your session has ended">
        Sign in again to continue where you left off; your drafts are kept. If someone else signs in, the page
        starts over.
      </SignInForm>
    </dialog>,
    document.body,
  );
}

interface SignInFormProps {
  readonly session: Session;
  readonly title: string;
  readonly children: ReactNode;
}

function SignInForm({ session, title, children }: SignInFormProps) {
  const [credential, setCredential] = useState('');
  const [kind, setKind] = useState<'key' | 'token'>('key');
  const signIn = useSignIn();
  function submit(event: FormEvent) {
    event.preventDefault();
    signIn.mutate({ [kind]: credential.trim() });
  }
  const other = kind === 'key' ? 'token' : 'key';
  return (
    <main className="grid h-full place-items-center p-6">
      <form
        onSubmit={submit}
        className="flex w-full max-w-sm flex-col gap-4 rounded-[10px] border border-line bg-panel p-6"
      >
        <h1 id="sign-in-title" className="text-lg font-semibold">
          {title}
        </h1>
        <Field label={kind === 'key' ? 'API key' : 'Token'} error={signIn.error?.message}>
          <TextInput
            type="password"
            autoComplete="current-password"
            autoFocus
            required
            value={credential}
            onChange={({ target }) => setCredential(target.value)}
          />
        </Field>
        <Button type="submit" look="primary" disabled={signIn.isPending}>
          Sign in
        </Button>
        {session.accepts_tokens && (
          <Button look="quiet" onClick={() => setKind(other)}>
            {`Use ${other === 'key' ? 'an API key' : 'a token'} instead`}
          </Button>
        )}
        <p className="text-xs text-ink-3">{children}</p>
      </form>
    </main>
  );
}
