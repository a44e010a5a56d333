import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { assistantName, assistantsQuery, schemasQuery } from '../../api/assistants.ts';
import { API_URL } from '../../api/base.ts';
import { useSession } from '../../api/session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Panel } from '../../ui/page.tsx';
import { exampleInput } from '../connect/example-input.ts';
import { callName, snippetsOf } from '../connect/snippets.ts';

/** What to do with a server that has not run anything yet. */
export function FirstSteps() {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const { can, authentication } = useSession();
  const [assistant] = assistants;
  const schemas = useQuery({
    ...schemasQuery(assistant?.assistant_id ?? ''),
    enabled: assistant !== undefined,
  });
  if (!assistant || !can('run')) return null;
  const [curl] = snippetsOf('curl', {
    url: API_URL,
    assistant: callName(assistant),
    input: exampleInput(schemas.data?.input_schema),
    key: authentication,
  });
  const code = curl?.code ?? '';
  return (
    <Panel title="First steps">
      <ol className="flex list-decimal flex-col gap-4 pl-5">
        <li>
          <p className="pb-1.5">Send your first message, here in the browser:</p>
          <Link
            to="/chat/$assistantId"
            params={{ assistantId: assistant.assistant_id }}
            className={buttonClass('primary')}
          >
            {`Chat with ${assistantName(assistant)}`}
          </Link>
        </li>
        <li className="min-w-0">
          <p className="flex flex-wrap items-center gap-2 pb-1.5">
            Or from a terminal: <CopyButton text={code} what="the command" look="plain" />
          </p>
          <pre tabIndex={0} className="overflow-auto rounded-md bg-sunk p-3 font-mono text-xs/[18px]">
            {code}
          </pre>
        </li>
        <li>
          Then{' '}
          <Link to="/connect" className="text-accent underline">
            connect your program
          </Link>
          , with the lines for JavaScript, Python, React and others.
        </li>
      </ol>
    </Panel>
  );
}
