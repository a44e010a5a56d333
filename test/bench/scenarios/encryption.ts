import { EncryptingCipher } from '../../../src/db/encryption/encrypting-cipher.ts';
import { TEST_KEY, testSealer } from '../../support/encryption.ts';
import { benchServer, ECHO } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

/** What encryption at rest costs: a value, and a whole run with and without it. */
export const encryption: Scenario = {
  title: 'encryption at rest',
  async run() {
    return [
      ...sealing(1000, 20_000),
      ...sealing(100_000, 2000),
      ...(await waits(false)),
      ...(await waits(true)),
    ];
  },
};

function sealing(size: number, count: number): Measurement[] {
  const cipher = new EncryptingCipher(testSealer());
  const column = 'thread_values.value';
  const text = JSON.stringify({ text: 'x'.repeat(size) });
  const sealed = cipher.encryptJson(column, text);
  const told = size < 1000 ? `${size} bytes` : `${size / 1000} kB`;
  return [
    {
      what: `sealing ${told} of JSON`,
      value: timeOf(count, () => cipher.encryptJson(column, text)),
      unit: 'ms',
    },
    {
      what: `opening ${told} of JSON`,
      value: timeOf(count, () => cipher.decryptJson(column, sealed)),
      unit: 'ms',
    },
  ];
}

/** Of one call, ms. */
function timeOf(count: number, call: () => unknown): number {
  for (let n = 0; n < count / 4; n++) call();
  const start = performance.now();
  for (let n = 0; n < count; n++) call();
  return (performance.now() - start) / count;
}

async function waits(isOn: boolean): Promise<Measurement[]> {
  await using server = await benchServer({ env: isOn ? { LANGGRAPH_AES_KEY: TEST_KEY } : {} });
  const request = () => server.http.call('POST', '/runs/wait', ECHO);
  await measureLoad({ concurrency: 1, count: 300, request });
  const cpu = server.cpu();
  const { latencies_ms } = await measureLoad({ concurrency: 1, count: 1000, request });
  const at = `echo, encryption ${isOn ? 'on' : 'off'}:`;
  const used = ((server.cpu() - cpu) / latencies_ms.length) * 1000;
  return [...percentiles(at, latencies_ms), { what: `${at} server CPU a run`, value: used, unit: 'ms' }];
}
