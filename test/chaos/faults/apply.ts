import { registerHooks } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { edited } from './edited.ts';
import { type Edit, FAULTS, type FaultName } from './faults.ts';

/** Loaded before a server under test, by `node --import`: changes its sources as the faults in `CHAOS_FAULTS` say. */
const ROOT = resolve(import.meta.dirname, '../../..');
const names: readonly FaultName[] = JSON.parse(process.env['CHAOS_FAULTS'] ?? '[]');
const edits: readonly Edit[] = names.flatMap((name) => FAULTS[name]);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith('file:')) return loaded;
    const file = relative(ROOT, fileURLToPath(url));
    const its = edits.filter((edit) => edit.file === file);
    if (its.length === 0) return loaded;
    return { ...loaded, source: its.reduce(edited, Buffer.from(loaded.source as Uint8Array).toString()) };
  },
});
