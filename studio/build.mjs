// Builds Studio into `dist/studio`. Plain JavaScript: it also runs while the packages
// are being installed, under whatever Node that is.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const vite = await import('vite').catch(() => undefined);
if (!vite) {
  // An installation without development dependencies.
  process.stdout.write('Studio is not built: its development dependencies are not installed.\n');
  process.exit(0);
}
// The environment may say otherwise, as within a test: the build would make a page for development.
process.env.NODE_ENV = 'production';
await vite.build({ configFile: join(root, 'vite.config.ts'), logLevel: 'warn' });
