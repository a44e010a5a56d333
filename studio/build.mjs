// Builds Studio into `dist/studio`. Plain JavaScript: it also runs while the packages
// are being installed, under whatever Node that is.
import { mkdirSync, renameSync, rmSync } from 'node:fs';
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
const outDir = join(root, `.build-${process.pid}`);
await vite.build({ configFile: join(root, 'vite.config.ts'), logLevel: 'warn', build: { outDir } });
replace(join(root, '../dist/studio'), outDir);

// A server may be serving the build before: a project that links to this repository builds it when it is installed.
function replace(target, fresh) {
  mkdirSync(dirname(target), { recursive: true });
  const before = `${fresh}-before`;
  for (let tries = 3; ; tries--) {
    try {
      move(target, before);
      renameSync(fresh, target);
      break;
    } catch (error) {
      // Another build was faster.
      if (error.code !== 'ENOTEMPTY' || tries === 0) throw error;
    }
  }
  rmSync(before, { recursive: true, force: true });
}

function move(from, to) {
  rmSync(to, { recursive: true, force: true });
  try {
    renameSync(from, to);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}
