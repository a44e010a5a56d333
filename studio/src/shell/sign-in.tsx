import { type FormEvent, useState } from 'react';
import { type Session, useSignIn } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Field, TextInput } from '../ui/fields.tsx';

/** Asks for a key or a token, which the server exchanges for a cookie: the page keeps neither. */
export function SignIn({ session }: { session: Session }) {
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
        <h1 className="text-lg font-semibold">Agent Server</h1>
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
        <p className="text-xs text-ink-3">
          Create a key with <code className="font-mono">agent-server keys create</code>. It stays on the
          server; this browser gets a cookie for 12 hours.
        </p>
      </form>
    </main>
  );
}
