import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defaultAllowedOrigins, defineConfig, type Plugin } from 'vite';

/** The server that `npm run dev:studio` shows. */
const SERVER = process.env['STUDIO_SERVER'] ?? 'http://127.0.0.1:8123';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** Puts `load-again.js` before all other scripts. It is a file of its own: the policy for content allows no code in pages. */
function loadAgain(): Plugin {
  const NAME = 'load-again.js';
  return {
    name: 'load-again',
    apply: 'build',
    buildStart() {
      const source = readFileSync(new URL(NAME, import.meta.url), 'utf8');
      this.emitFile({ type: 'asset', name: NAME, source });
    },
    transformIndexHtml(_html, { bundle = {}, path }) {
      if (path !== '/index.html') return;
      const file = Object.values(bundle).find((each) => each.type === 'asset' && each.names.includes(NAME));
      return [{ tag: 'script', attrs: { src: `./${file?.fileName}` }, injectTo: 'head-prepend' }];
    },
  };
}

/**
 * Paths in the build are relative: one build works under every prefix. While developing, everything that is not a page of
 * Studio goes to a running server.
 */
export default defineConfig(({ command }) => ({
  root: ROOT,
  base: command === 'build' ? './' : '/studio/',
  plugins: [react(), tailwindcss(), loadAgain()],
  build: {
    // The policy for content allows no `data:` fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: ['index.html', 'component-frame.html'].map((name) => `${ROOT}${name}`) },
    target: 'es2022',
  },
  server: {
    // Also at `/` and `/studio`, where a server would show its build.
    proxy: { '^/(?!$|[?]|studio(?:$|[?]|/(?!session)))': { target: SERVER, ws: true } },
    // Frames of components have no origin.
    cors: { origin: [defaultAllowedOrigins, 'null'] },
  },
}));
