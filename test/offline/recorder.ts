import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/**
 * Loaded before a program and those that it starts (`NODE_OPTIONS=--import`): writes down whom they want to reach, and
 * which names they look up, a line each into the file `RECORDED_CALLS`.
 */
const file = process.env['RECORDED_CALLS'] as string;

function record(what: string, target: unknown): void {
  appendFileSync(file, `${what} ${String(target)}\n`);
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** `targetOf` says what a call is about. */
function watch(owner: object, name: string, what: string, targetOf: (args: unknown[]) => unknown): void {
  const methods = owner as Record<string, AnyFunction>;
  const original = methods[name] as AnyFunction;
  methods[name] = function (...args) {
    record(what, targetOf(args));
    return original.apply(this, args);
  };
}

watch(net.Socket.prototype, 'connect', 'connect', ([given, host]) => {
  // Node hands on what it has understood of the arguments already.
  const options = Array.isArray(given) ? given[0] : given;
  if (typeof options !== 'object') return `${host ?? 'localhost'}:${options}`;
  return options.path ?? `${options.host ?? 'localhost'}:${options.port}`;
});
watch(dgram.Socket.prototype, 'send', 'datagram', (args) => args.find((arg) => typeof arg === 'string'));
watch(dgram.Socket.prototype, 'connect', 'datagram', ([, host]) => host ?? 'localhost');
for (const owner of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
  for (const name of Object.getOwnPropertyNames(owner)) {
    if (/^(lookup|resolve|reverse)/.test(name)) watch(owner, name, 'look up', ([host]) => host);
  }
}
syncBuiltinESMExports();
