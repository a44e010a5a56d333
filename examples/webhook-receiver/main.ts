import { webhookReceiver } from './receiver.ts';

const { WEBHOOK_SECRET, RECEIVER_PORT = '9000' } = process.env;
if (!WEBHOOK_SECRET) throw new Error('Set WEBHOOK_SECRET to the secret of the server (webhooks.secret).');

webhookReceiver(WEBHOOK_SECRET, ({ run_id, status, values, error }) => {
  console.log(`run ${run_id} ended: ${status}`, error ?? values);
}).listen(Number(RECEIVER_PORT), '127.0.0.1', () => {
  console.log(`waiting for webhooks at http://127.0.0.1:${RECEIVER_PORT}/`);
});
