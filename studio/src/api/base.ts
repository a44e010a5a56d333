/**
 * Absolute URL of Studio, with a trailing slash. Derived from the URL of the build's own files, so that it works below any
 * prefix, even one that only a proxy knows.
 */
const STUDIO_URL: URL = import.meta.env.DEV
  ? new URL('/studio/', location.href)
  : new URL(/* @vite-ignore */ '../', import.meta.url);

/** Path of Studio without a trailing slash, such as `/agents/studio`. */
export const STUDIO_PATH: string = STUDIO_URL.pathname.slice(0, -1);

/** Path of Studio below the server's prefix, as in `studio.path`. Deployments use the same path. */
export const STUDIO_NAME: string = STUDIO_PATH.slice(STUDIO_PATH.lastIndexOf('/'));

/** URL of the API without a trailing slash. */
export const API_URL: string = new URL('../', STUDIO_URL).href.slice(0, -1);
