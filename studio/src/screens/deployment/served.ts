import { queryOptions } from '@tanstack/react-query';
import { STUDIO_NAME } from '../../api/base.ts';

/** Optional pages of a deployment. Its project can disable them. */
export const pagesQuery = (url: string, revision_id: string | undefined) =>
  queryOptions({
    queryKey: ['deployment', url, 'pages', revision_id],
    queryFn: async () => ({
      hasDocs: await isThere(`${url}/docs`),
      hasStudio: await isThere(`${url}${STUDIO_NAME}`),
    }),
    enabled: revision_id !== undefined && isHere(url),
    staleTime: Number.POSITIVE_INFINITY,
  });

async function isThere(url: string): Promise<boolean> {
  const response = await fetch(url, { method: 'HEAD' }).catch(() => undefined);
  return response?.ok === true;
}

/** The content security policy allows requests to the page's own server only. */
function isHere(url: string): boolean {
  return URL.parse(url)?.origin === location.origin;
}
