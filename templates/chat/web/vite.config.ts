import { defineConfig } from 'vite';

/** `npm run web` passes the requests of the page on to `npm run dev`. */
export default defineConfig({
  server: { proxy: { '^/(assistants|threads|runs)': { target: 'http://127.0.0.1:8123', ws: true } } },
});
