import type { CallerContext, FetchContext } from './context.ts';

/** As much of a Hono app as is needed: the project has its own copy of the package. */
export interface HonoApp {
  readonly routes: readonly unknown[];
  route(path: string, app: HonoApp): HonoApp;
  use(handler: HonoHandler): HonoApp;
  notFound(handler: HonoHandler): HonoApp;
  fetch(request: Request, env: FetchContext): Response | Promise<Response>;
}

type HonoHandler = (context: HonoContext, next: () => Promise<void>) => unknown;

interface HonoContext {
  readonly env: FetchContext;
  readonly req: {
    readonly raw: Request;
    /** What was read of the body, by the form it was read in. */
    readonly bodyCache: Readonly<Record<string, unknown>>;
  };
  set(name: 'auth', value: CallerContext): void;
}

export function isHono(app: unknown): boolean {
  return (
    ['route', 'use', 'notFound', 'fetch'].every((name) => hasMethod(app, name)) && 'routes' in Object(app)
  );
}

export function hasMethod<const Name extends string>(
  app: unknown,
  name: Name,
): app is Record<Name, (...args: unknown[]) => unknown> {
  return (
    typeof app === 'object' && app !== null && typeof (app as Record<string, unknown>)[name] === 'function'
  );
}

/**
 * Our routes stand behind the app's, so that its middleware is around them too, and what it has no route for is ours.
 * Its own page for what is not found is never shown, as with the official server.
 */
export function honoAround(app: HonoApp): (request: Request, context: FetchContext) => Promise<Response> {
  const Hono = app.constructor as new () => HonoApp;
  const outer = new Hono();
  outer.use(async (context, next) => {
    if (context.env.auth) context.set('auth', context.env.auth);
    await next();
  });
  outer.route('/', app);
  outer.notFound(async (context) => context.env.pass(await unread(context)));
  return async (request, context) => outer.fetch(request, context);
}

/** The request with its body, which middleware may have read. */
async function unread({ req: { raw, bodyCache } }: HonoContext): Promise<Request> {
  if (!raw.bodyUsed) return raw;
  const [form] = Object.keys(bodyCache);
  const body = form === undefined ? undefined : await bodyCache[form];
  const { method, headers, signal } = raw;
  const bytes =
    form === 'json' ? JSON.stringify(body) : (body as ArrayBuffer | string | FormData | undefined);
  return new Request(raw.url, { method, headers, signal, ...(bytes === undefined ? {} : { body: bytes }) });
}
