import { createRequire } from 'node:module';
import type client from 'prom-client';

const load = createRequire(import.meta.url);

/**
 * Imports the client library by file: its index also loads unused process metrics and OpenTelemetry, 80 modules
 * and 3 MB.
 */
export const Counter: typeof client.Counter = load('prom-client/lib/counter.js');
export type Counter = client.Counter;
export const Gauge: typeof client.Gauge = load('prom-client/lib/gauge.js');
export type Gauge = client.Gauge;
export const Histogram: typeof client.Histogram = load('prom-client/lib/histogram.js');
export type Histogram = client.Histogram;
export const Registry: typeof client.Registry = load('prom-client/lib/registry.js');
export type Registry = client.Registry;
