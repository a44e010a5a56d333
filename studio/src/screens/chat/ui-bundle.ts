import { queryOptions } from '@tanstack/react-query';
import { API_URL } from '../../api/base.ts';
import { api, dataOf } from '../../api/client.ts';

/** Where the components of a graph come from. */
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
 * What the HTML of a component refers to. It is not parsed: the policy of this page has objections to its `onload`. The addresses are those below which this page reaches the server: a proxy may add
 * a prefix that the server does not know.
 */
function bundleOf(html: string): UiBundle {
  const addresses = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address = '']) => address);
  const files = addresses.map((address) => {
    const name = address.split('/').slice(-2).join('/').replaceAll('&#39;', "'");
    return `${API_URL}/ui/${name}`;
  });
  return { global: /onload='(\w+)/.exec(html)?.[1] ?? '', files };
}
