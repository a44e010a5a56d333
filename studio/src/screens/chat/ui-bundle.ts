import { queryOptions } from '@tanstack/react-query';
import { API_URL } from '../../api/base.ts';
import { api, dataOf } from '../../api/client.ts';

/** The bundle with a graph's components. */
export interface UiBundle {
  /** Global variable of the script. */
  readonly global: string;
  /** URLs of style sheets and scripts. */
  readonly files: readonly string[];
}

export const uiBundleQuery = (assistant_id: string, name: string) =>
  queryOptions({
    queryKey: ['ui', assistant_id, name],
    queryFn: async () => {
      const params = { path: { assistant_id } };
      const asked = api.POST('/ui/{assistant_id}', { params, body: { name }, parseAs: 'text' });
      return bundleOf(await dataOf(asked));
    },
  });

/**
 * The files that a component's HTML refers to. It is matched, not parsed as HTML, as the content security policy rejects its
 * `onload`. URLs are made relative to the page's API URL: a proxy may add a prefix that the server does not know.
 */
function bundleOf(html: string): UiBundle {
  const addresses = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address = '']) => address);
  const files = addresses.map((address) => {
    const name = address.split('/').slice(-2).join('/').replaceAll('&#39;', "'");
    return `${API_URL}/ui/${name}`;
  });
  return { global: /onload='(\w+)/.exec(html)?.[1] ?? '', files };
}
