/**
 * Absolute URL of Studio, with a slash at its end. The build finds it from where its own files come from, so that it works
 * under every prefix, also under one that only a proxy knows.
 */
const STUDIO_URL: URL = import.meta.env.DEV
  ? new URL('/studio/', location.href)
  : new URL(/* @vite-ignore */ '../', import.meta.url);

/** Path of Studio without a slash at its end, such as `/agents/studio`. */
export const STUDIO_PATH: string = STUDIO_URL.pathname.slice(0, -1);

/** Where Studio is below the prefix of a server, as `studio.path`; its deployments have it there too. */
export const STUDIO_NAME: string = STUDIO_PATH.slice(STUDIO_PATH.lastIndexOf('/'));

/** URL of the API without a slash at its end. */
export const API_URL: string = new URL('../', STUDIO_URL).href.slice(0, -1);
