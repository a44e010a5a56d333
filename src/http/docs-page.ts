/** Functions that run in the browser: they are sent as text and see nothing of this file. */

interface BrowserWindow {
  matchMedia(query: string): {
    readonly matches: boolean;
    addEventListener(event: 'change', listener: () => void): void;
  };
  readonly document: {
    readonly documentElement: { readonly classList: { toggle(name: string, on: boolean): void } };
  };
}

/** The page has a dark theme, for which it looks for a class. */
export function followColorScheme(): void {
  const { matchMedia, document } = globalThis as unknown as BrowserWindow;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

/** As much of the immutable values of Swagger UI as is needed. */
interface Values {
  get(name: string): Values & string;
  getIn(path: readonly string[]): unknown;
  set(name: string, value: Values): Values;
  filter(wanted: (value: Values) => boolean): Values;
  map(change: (value: Values, key: string) => Values): Values;
  readonly size: number;
}

/** The box above the operations looks into paths, methods and summaries; the page's own knows names of groups only. */
export function operationFilter() {
  function matches(operation: Values, phrase: string): boolean {
    const texts = [operation.get('method'), operation.get('path'), operation.getIn(['operation', 'summary'])];
    return texts.join(' ').toLowerCase().includes(phrase);
  }
  function opsFilter(groups: Values, typed: string): Values {
    const phrase = typed.toLowerCase();
    return groups
      .map((group, name) => {
        if (name.toLowerCase().includes(phrase)) return group;
        return group.set(
          'operations',
          group.get('operations').filter((each) => matches(each, phrase)),
        );
      })
      .filter((group) => group.get('operations').size > 0);
  }
  return { fn: { opsFilter } };
}

/** The head of the page takes less room, so that the first operations are seen. */
export const STYLE = `
.swagger-ui .info { margin: 24px 0 16px; }
.swagger-ui .info hgroup.main { margin: 0; }
.swagger-ui .info .title { font-size: 28px; }
.swagger-ui .scheme-container { padding: 12px 0; box-shadow: none; }
.swagger-ui .info > div:not(.description):not(.info__extdocs) { display: none; }
`;
