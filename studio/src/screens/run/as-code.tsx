import { useState } from 'react';
import { API_URL } from '../../api/base.ts';
import type { Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { requestOf } from './run-request.ts';
import { type Language, SNIPPETS } from './snippets.ts';

const LANGUAGES = Object.keys(SNIPPETS) as Language[];

/** Code that starts this run again, in three languages. */
export function AsCode({ run }: { run: Schemas['Run'] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        Copy as code
      </Button>
      <Dialog title="Start this run from code" open={isOpen} onClose={() => setOpen(false)}>
        <Snippet run={run} />
      </Dialog>
    </>
  );
}

function Snippet({ run }: { run: Schemas['Run'] }) {
  const { authentication } = useSession();
  const [language, setLanguage] = useState<Language>('curl');
  const code = SNIPPETS[language]({
    url: API_URL,
    thread_id: run.thread_id,
    request: requestOf(run),
    needsKey: authentication,
  });
  return (
    <>
      <div className="flex gap-1">
        {LANGUAGES.map((each) => (
          <Button
            key={each}
            look="quiet"
            aria-pressed={each === language}
            className="aria-pressed:bg-sunk aria-pressed:text-ink"
            onClick={() => setLanguage(each)}
          >
            {each}
          </Button>
        ))}
        <CopyButton text={code} what={`the ${language} code`} look="primary" className="ml-auto" />
      </div>
      <pre
        tabIndex={0}
        aria-label={`${language} code`}
        role="region"
        className="min-h-0 overflow-auto rounded-lg bg-sunk p-3 font-mono text-xs/[18px]"
      >
        {code}
      </pre>
      {authentication && (
        <p className="text-xs text-ink-2">
          The code reads the key from the environment variable AGENT_SERVER_KEY.
        </p>
      )}
    </>
  );
}
