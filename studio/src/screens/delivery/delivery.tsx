import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { typedValue } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { Ago, count, localTimes } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { Card, Facts, Page, Panel } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { DeliveryPill } from '../webhooks/delivery-pill.tsx';
import { Tries } from '../webhooks/tries.tsx';

const deliveryQuery = (delivery_id: string) =>
  queryOptions({
    queryKey: ['delivery', delivery_id],
    queryFn: async () => {
      const params = { path: { delivery_id } };
      const [delivery, explanation] = await Promise.all([
        dataOf(api.GET('/webhooks/deliveries/{delivery_id}', { params })),
        dataOf(api.GET('/webhooks/deliveries/{delivery_id}/explain', { params })),
      ]);
      return { delivery, explanation };
    },
  });

/** One delivery: its state explained, and each try with its response. */
export function Delivery() {
  const { deliveryId } = useParams({ from: '/webhooks/$deliveryId' });
  const { data, error, refetch } = useQuery(deliveryQuery(deliveryId));
  if (error) {
    return (
      <Page title="Delivery">
        <Failure error={error} retry={() => void refetch()} />
      </Page>
    );
  }
  if (!data) return <Loading what="the delivery" />;
  const { delivery, explanation } = data;
  return (
    <Page
      title="Delivery"
      beside={
        <>
          <DeliveryPill status={delivery.status} />
          <span className="font-mono text-xs text-ink-3">{delivery.delivery_id}</span>
        </>
      }
      actions={<Redeliver delivery={delivery} />}
    >
      <p className="max-w-prose">{localTimes(explanation.summary)}</p>
      <div className="grid items-start gap-4 xl:grid-cols-[1fr_400px]">
        <div className="flex min-w-0 flex-col gap-4">
          <Card className="min-w-0 p-4">
            {delivery.attempts.length === 0 ? (
              <Empty title="No tries yet" />
            ) : (
              <Tries attempts={delivery.attempts} />
            )}
          </Card>
          <Sent request={delivery.request} />
        </div>
        <Card className="min-w-0 p-4">
          <DeliveryFacts delivery={delivery} explanation={explanation} />
        </Card>
      </div>
    </Page>
  );
}

/** The request that each try sends, possibly cut. */
function Sent({ request: { header_names, body, body_length } }: { request: Schemas['DeliveryRequest'] }) {
  const { value, isJson } = typedValue(body);
  return (
    <Panel title="Request">
      {header_names.length > 0 && <p className="text-ink-2">Headers: {header_names.join(', ')}</p>}
      <Json value={isJson ? value : body} label="Body" />
      {/* A complete body can be shorter than the sent one: secrets are masked. */}
      {!isJson && body_length > body.length && (
        <p className="text-ink-3">
          The first {count(body.length)} of {count(body_length)} characters.
        </p>
      )}
    </Panel>
  );
}

interface DeliveryFactsProps {
  readonly delivery: Schemas['DeliveryDetail'];
  readonly explanation: Schemas['DeliveryExplanation'];
}

function DeliveryFacts({ delivery, explanation: { max_tries, gives_up_at, behind } }: DeliveryFactsProps) {
  const { url, kind, run_id, tries, next_try_at, created_at, ended_at } = delivery;
  return (
    <Facts
      items={[
        [
          'Address',
          <span key="address" className="font-mono text-xs break-all">
            {url}
          </span>,
        ],
        ['Kind', kind],
        ...(run_id === null ? [] : [['Run', <RunLink key="run" run_id={run_id} />] as const]),
        ...(behind === null ? [] : [['Waits for', <DeliveryLink key="waits-for" id={behind} />] as const]),
        ['Tries', max_tries === null ? tries : `${tries} of ${max_tries}`],
        ['Created', <Ago key="created" at={created_at} />],
        ...(next_try_at === null ? [] : [['Next try', new Date(next_try_at).toLocaleString()] as const]),
        ...(gives_up_at === null ? [] : [['Gives up', new Date(gives_up_at).toLocaleString()] as const]),
        ...(ended_at === null ? [] : [['Ended', <Ago key="ended" at={ended_at} />] as const]),
      ]}
    />
  );
}

const LINK = 'font-mono text-xs break-all text-accent hover:underline';

function RunLink({ run_id }: { run_id: string }) {
  return (
    <Link to="/runs/$runId" params={{ runId: run_id }} className={LINK}>
      {run_id}
    </Link>
  );
}

function DeliveryLink({ id }: { id: string }) {
  return (
    <Link to="/webhooks/$deliveryId" params={{ deliveryId: id }} className={LINK}>
      {id}
    </Link>
  );
}

function Redeliver({ delivery: { delivery_id, status } }: { delivery: Schemas['DeliveryDetail'] }) {
  const { can } = useSession();
  const client = useQueryClient();
  const redeliver = useMutation({
    mutationFn: () =>
      dataOf(api.POST('/webhooks/deliveries/{delivery_id}/redeliver', { params: { path: { delivery_id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ['delivery'] }),
  });
  if (!can('run') || status === 'pending') return null;
  return (
    <>
      {redeliver.error && (
        <span role="alert" className="text-err">
          {redeliver.error.message}
        </span>
      )}
      <Button look="primary" disabled={redeliver.isPending} onClick={() => redeliver.mutate()}>
        Redeliver
      </Button>
    </>
  );
}
