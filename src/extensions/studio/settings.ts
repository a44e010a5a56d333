import { boolean, group, text } from '../../config/value-types.ts';

/** First segments of the server's own paths: Studio would hide them. */
export const RESERVED_PATHS: ReadonlySet<string> = new Set([
  ...[
    '.well-known',
    'a2a',
    'assistants',
    'auth',
    'deployments',
    'docs',
    'info',
    'internal',
    'interrupts',
    'keys',
  ],
  ...['mcp', 'metrics', 'o', 'ok', 'openapi.json', 'runs', 'store', 'system', 'threads', 'tokens', 'ui'],
  ...['usage', 'v1', 'v2', 'webhooks'],
]);

function isFreePath(path: string): boolean {
  return !RESERVED_PATHS.has(path.slice(1));
}

function isTraceUrl(url: string): boolean {
  const parsed = URL.parse(url.replaceAll('{trace_id}', '0'.repeat(32)));
  return /^https?:$/.test(parsed?.protocol ?? '') && url.includes('{trace_id}');
}

export const DISABLED = {
  path: 'http.disable_studio',
  schema: boolean().default(false).describe('Disables Studio.'),
};

/** Of prices; the default for a server without usage. */
export const CURRENCY = { path: 'usage.currency', schema: text().default('USD') };

export const STUDIO = {
  path: 'studio',
  of_server: true,
  schema: group({
    path: text()
      .regex(/^\/[a-z0-9][a-z0-9._-]*$/, 'must be a path of one part, such as /console')
      .refine(isFreePath, 'is already a path of the API: choose another one')
      .default('/studio')
      .describe('Where Studio is, below `http.mount_prefix`, such as `/console`.'),
    read_only: boolean()
      .default(false)
      .describe(
        'Studio shows everything and changes nothing: its sessions have the scope `read`. Without authentication, Studio only hides the controls that change something.',
      ),
    trace_url: text()
      .refine(isTraceUrl, 'must be an http or https URL with {trace_id} in its path, query or fragment')
      .optional()
      .describe(
        'URL of a run in your tracing tool, such as `https://tempo.example/trace/{trace_id}`. The page of a run links to it; everyone who is signed in can read it.',
      ),
  }).prefault({}),
};
