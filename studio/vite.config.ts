import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The server that `npm run dev:studio` shows. */
const SERVER = process.env['STUDIO_SERVER'] ?? 'http://127.0.0.1:8123';

/**
 * Paths in the build are relative: one build works under every prefix. While developing, everything that is not a page of
 * Studio goes to a running server.
 */
export default defineConfig(({ command }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: command === 'build' ? './' : '/studio/',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../dist/studio',
    emptyOutDir: true,
    // The policy for content allows no `data:` fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
  server: { proxy: { '^/(?!studio/(?!session))': { target: SERVER, ws: true } } },
}));
