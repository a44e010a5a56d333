import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { hostLookups } from '../services/webhooks/host-lookups.ts';

const HOSTS = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
const RESOLVER_CONFIG = '/etc/resolv.conf';

/** Resolves host names from clients: by this machine's own names, then by its name servers. */
export const resolveClientHost = hostLookups({
  async local(hostname) {
    const name = hostname.toLowerCase();
    const lines = await wordsOf(HOSTS);
    const addresses = lines.flatMap(([address, ...names]) =>
      address !== undefined && names.some((each) => each.toLowerCase() === name) ? [address] : [],
    );
    if (addresses.length > 0) return addresses;
    return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'] : undefined;
  },

  async query(hostname, signal) {
    const resolver = new Resolver();
    signal.addEventListener('abort', () => resolver.cancel(), { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length > 0) return addresses;
    const failures = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    // A name with addresses of the other kind only has no data of this one.
    throw failures.find(({ code }) => code !== 'ENODATA') ?? failures[0];
  },

  async searchDomains() {
    const lines = await wordsOf(RESOLVER_CONFIG);
    return lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain')?.slice(1) ?? [];
  },
});

/** The words of each line without comments; none of a file that does not exist. */
async function wordsOf(path: string): Promise<string[][]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').map((line) => (line.split(/[#;]/, 1)[0] as string).split(/\s+/).filter(Boolean));
}
