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
// Whoever starts the build may have another value, such as a test: it would make a page for developing.
process.env.NODE_ENV = 'production';
await vite.build({ configFile: join(root, 'vite.config.ts'), logLevel: 'warn' });
