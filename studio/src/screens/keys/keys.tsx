import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Forbidden } from '../../ui/forbidden.tsx';
import { Ago, useNow } from '../../ui/format.tsx';
import { Page } from '../../ui/page.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { keysQuery } from './keys-query.ts';
import { NewKey } from './new-key.tsx';
import { NewToken } from './new-token.tsx';

type Key = Schemas['Key'];

/** API keys, and browser tokens for web pages. */
export function Keys() {
  const { isOperator: isAllowed } = useSession();
  return (
    <Page
      title="Keys"
      actions={
        isAllowed && (
          <>
            <NewToken />
            <NewKey />
          </>
        )
      }
    >
      {isAllowed ? (
        <List />
      ) : (
        <Forbidden>Managing keys needs an unrestricted key with the scope admin.</Forbidden>
      )}
    </Page>
  );
}

function List() {
  const { data, error, refetch } = useQuery(keysQuery);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="keys" />;
  return (
    <>
      {data.length === 0 ? (
        <Empty title="No keys yet">
          Create one key per program that calls the server, so that you can revoke each on its own.
        </Empty>
      ) : (
        <Table
          label="Keys"
          columns={['Name', 'State', 'Scope', 'Created', 'Last used', 'Ends', 'Actions']}
          unnamed={['Actions']}
        >
          {data.map((key) => (
            <KeyRow key={key.key_id} apiKey={key} />
          ))}
        </Table>
      )}
      <p className="text-xs text-ink-3">Keys from the configuration file are not listed.</p>
    </>
  );
}

function KeyRow({ apiKey }: { apiKey: Key }) {
  const { name, scope, created_at, expires_at, last_used_at, revoked_at } = apiKey;
  const now = useNow();
  const isExpired = expires_at !== null && Date.parse(expires_at) <= now;
  const state = revoked_at !== null ? 'revoked' : isExpired ? 'expired' : 'valid';
  return (
    <Row>
      <Cell className="max-w-[40ch] truncate font-medium">{name}</Cell>
      <Cell>
        <Pill tone={state === 'valid' ? 'ok' : 'idle'}>{state}</Pill>
      </Cell>
      <Cell>{scope}</Cell>
      <Cell className="text-ink-2">
        <Ago at={created_at} />
      </Cell>
      <Cell className="text-ink-2">{last_used_at === null ? 'never' : <Ago at={last_used_at} />}</Cell>
      <Cell className="whitespace-nowrap text-ink-2">
        {expires_at === null ? 'never' : new Date(expires_at).toLocaleString()}
      </Cell>
      <Cell className="text-right">{state === 'valid' && <Revoke apiKey={apiKey} />}</Cell>
    </Row>
  );
}

function Revoke({ apiKey: { key_id, name } }: { apiKey: Key }) {
  const client = useQueryClient();
  async function revoke() {
    await dataOf(api.DELETE('/keys/{key_id}', { params: { path: { key_id } } }));
    await client.invalidateQueries({ queryKey: ['key'] });
  }
  return (
    <Confirm
      action="Revoke"
      question={
        <>
          Revoke <bdi>{name}</bdi>?
        </>
      }
      onConfirm={revoke}
    >
      Requests with this key, and with tokens created from it, will be rejected. This cannot be undone.
    </Confirm>
  );
}
