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

/** The same as the icon of Studio, which a server may not have. */
export const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><title>Agent Server</title><rect width="24" height="24" rx="6" fill="#0f766e"/><path d="M12 7v4m0 0-5 6m5-6 5 6" fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round"/><circle cx="12" cy="6.5" r="2.4" fill="#fff"/><circle cx="7" cy="17.2" r="2.4" fill="#fff"/><circle cx="17" cy="17.2" r="2.4" fill="#5eead4"/></svg>`;

/** Our colours, and a compact header, so that the first operations are visible. */
export const STYLE = `
.swagger-ui .info .title::before { content: ''; display: inline-block; width: 32px; height: 32px; margin-right: 10px; vertical-align: -5px; background: url("data:image/svg+xml,${encodeURIComponent(LOGO)}"); }
.swagger-ui .info .title small.version-stamp { background-color: #0f766e; }
.swagger-ui .btn.execute { background-color: #0f766e; border-color: #0f766e; }
.swagger-ui .btn.authorize { border-color: #0f766e; color: #0f766e; }
.swagger-ui .btn.authorize svg { fill: #0f766e; }
.swagger-ui .info a, .swagger-ui a.nostyle:hover { color: #0f766e; }
.dark-mode .swagger-ui .btn.authorize, .dark-mode .swagger-ui .info a { border-color: #2dd4bf; color: #2dd4bf; }
.dark-mode .swagger-ui .btn.authorize svg { fill: #2dd4bf; }
.swagger-ui .info { margin: 24px 0 16px; }
.swagger-ui .info hgroup.main { margin: 0; }
.swagger-ui .info .title { font-size: 28px; }
.swagger-ui .scheme-container { padding: 12px 0; box-shadow: none; }
.swagger-ui .info > div:not(.description):not(.info__extdocs) { display: none; }
`;
