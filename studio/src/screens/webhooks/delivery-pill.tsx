import { Pill, type Tone } from '../../ui/pill.tsx';
import type { Delivery } from './webhooks-query.ts';

const TONES: Readonly<Record<Delivery['status'], Tone>> = { pending: 'wait', delivered: 'ok', dead: 'err' };

export function DeliveryPill({ status }: { status: Delivery['status'] }) {
  return <Pill tone={TONES[status]}>{status}</Pill>;
}
