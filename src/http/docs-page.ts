/** Functions that run in the browser: they are serialized to source text, so they cannot reference this module. */

interface BrowserWindow {
  matchMedia(query: string): {
    readonly matches: boolean;
    addEventListener(event: 'change', listener: () => void): void;
  };
  readonly document: {
    readonly documentElement: { readonly classList: { toggle(name: string, on: boolean): void } };
  };
}

/** Swagger UI switches to its dark theme by a class. */
export function followColorScheme(): void {
  const { matchMedia, document } = globalThis as unknown as BrowserWindow;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

/** The subset of Swagger UI's Immutable.js values in use. */
interface Values {
  get(name: string): Values & string;
  getIn(path: readonly string[]): unknown;
  set(name: string, value: Values): Values;
  filter(wanted: (value: Values) => boolean): Values;
  map(change: (value: Values, key: string) => Values): Values;
  readonly size: number;
}

/** Replaces the built-in filter, which matches tag names only: also searches path, method and summary. */
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

/** Compact header, so that the first operations are visible. */
export const STYLE = `
.swagger-ui .info { margin: 24px 0 16px; }
.swagger-ui .info hgroup.main { margin: 0; }
.swagger-ui .info .title { font-size: 28px; }
.swagger-ui .scheme-container { padding: 12px 0; box-shadow: none; }
.swagger-ui .info > div:not(.description):not(.info__extdocs) { display: none; }
`;
