// Loaded before everything else, by `node --import`, in test files and in the servers that they start. Hosts inherit the
// argument, those of deployments too, which get few variables of the server's: 0.6 s of CPU to load one instead of 1.6.
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

// A variable, because threads and the reader of schemas shall use it as well.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/agent-server');
enableCompileCache();

// Node writes what it compiled when a process exits by itself, and tests kill most servers.
for (const seconds of [1, 2, 4, 8, 16]) setTimeout(flushCompileCache, seconds * 1000).unref();
