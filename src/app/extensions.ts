import type { Authenticate } from '../auth/authenticate.ts';
import type { Config } from '../config/schema.ts';
import { sectionOf } from '../config/section.ts';
import { closeAll } from '../core/lifecycle.ts';
import type { LogFields } from '../core/logger.ts';
import type {
  Contribution,
  Core,
  Extension,
  NamedFiles,
  OwnedDatabase,
  ProjectCode,
} from '../extensions/extension.ts';
import { EXTENSIONS } from '../extensions/index.ts';
import type { Dispatch } from '../http/dispatch.ts';
import type { ExtensionRoutes } from '../http/server-deps.ts';
import type { ServerWarning } from '../schemas/system-overview.ts';
import type { OwnedData } from '../storage/owned-data.ts';
import type { ObserveAttempt } from '../workers/attempt-observer.ts';
import type { Sweep } from '../workers/maintenance.ts';
import type { RunObserver } from '../workers/run-observer.ts';

/** What extensions own in the database, whether they are on or off. */
export const OWNED_DATA: readonly OwnedData[] = EXTENSIONS.flatMap(({ data }) => data ?? []);

/** The databases that extensions have in addition to the server's. */
export async function ownedDatabases(config: Config): Promise<readonly OwnedDatabase[]> {
  return (await Promise.all(EXTENSIONS.map((each) => each.databases?.(config) ?? []))).flat();
}

/** The files that extensions have in addition to the server's database. */
export async function ownedFiles(config: Config): Promise<readonly NamedFiles[]> {
  const all = await Promise.all(
    EXTENSIONS.map(async ({ name, files }) => ({ name, files: await files?.(config) })),
  );
  return all.flatMap(({ name, files }) => (files ? { name, ...files } : []));
}

/** What all enabled extensions add to a server. */
export interface Extensions extends ExtensionRoutes, AsyncDisposable {
  readonly observer: RunObserver | undefined;
  readonly observeAttempt: ObserveAttempt | undefined;
  readonly sweeps: readonly Sweep[];
  warnings(): Promise<ServerWarning[]>;
  /** Adds the ways to authenticate of extensions; without authentication there is none to add to. */
  authenticating(known: Authenticate | undefined): Authenticate | undefined;
  /** Starts what runs in a process of its role. */
  start(): Promise<void>;
  /** Stops the companions, together with the workers. May be called again. */
  stop(grace_ms: number): Promise<void>;
  /** After the workers, whose last runs loops may follow. May be called again. */
  stopLoops(): Promise<void>;
  readonly dispatch: Dispatch | undefined;
}

/** Where the server's pages for people are, below the mount prefix. */
export function pageOf(config: Config, known?: readonly Extension[]): string | undefined {
  return enabled(config, known)
    .find(({ page }) => page)
    ?.page?.(config);
}

/** What the log has about extensions when the server is ready. */
export function readyFields(config: Config): LogFields {
  return Object.assign({}, ...enabled(config).map((extension) => extension.readyFields?.(config)));
}

/** Code of the project that extensions load. */
export function projectCode(config: Config): readonly ProjectCode[] {
  return enabled(config).flatMap((extension) => extension.projectCode?.(config) ?? []);
}

/** What the parts of extensions in graph hosts are given, by the name of the extension. */
export function givenToHosts(config: Config): Readonly<Record<string, unknown>> {
  const given = enabled(config).map(({ name, givenToHosts }) => [name, givenToHosts?.(config)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function enabled(config: Config, known = EXTENSIONS): readonly Extension[] {
  return known.filter((extension) => extension.isEnabled(config));
}

/** What a deployment's configuration has of its server's. */
export function sectionsOfServer(server: Config): Readonly<Record<string, unknown>> {
  const sections = EXTENSIONS.flatMap(({ sections = [] }) => sections).filter((each) => each.of_server);
  return Object.fromEntries(sections.map((section) => [section.path, sectionOf(server, section)]));
}

/** What at most one extension has. */
const EXCLUSIVE = ['page', 'observer', 'attempt', 'dispatch'] as const;

function requireOneOfEach(opened: readonly Contribution[], on: readonly Extension[]): void {
  const all = on.map(({ name, page }, at) => ({ name, page, ...opened[at] }));
  for (const part of EXCLUSIVE) {
    const names = all.filter((each) => each[part]).map(({ name }) => name);
    if (names.length > 1)
      throw new Error(`Only one extension may have "${part}", but these do: ${names.join(', ')}`);
  }
}

/** Loads the extensions that the configuration enables; all or none. */
export async function openExtensions(
  config: Config,
  core: Omit<Core, 'extensions'>,
  known: readonly Extension[] = EXTENSIONS,
): Promise<Extensions> {
  const on = enabled(config, known);
  const opened: Contribution[] = [];
  const close = () => closeAll(opened.map((each) => () => each[Symbol.asyncDispose]?.()));
  try {
    const extensions = on.map(({ name }) => name);
    for (const extension of on) opened.push(await (await extension.load())({ ...core, extensions }));
    requireOneOfEach(opened, on);
  } catch (error) {
    await close().catch((cause: unknown) => core.logger.error('cannot close an extension', { error: cause }));
    throw error;
  }
  core.storage.riders.add(opened.flatMap(({ rider = [] }) => rider));
  const { role: own } = config.server;
  const loops = opened
    .flatMap((each) => each.loops ?? [])
    .filter(({ role }) => role === 'any' || own === 'all' || role === own);
  const off = known.filter((extension) => !on.includes(extension));
  return {
    routes: opened.flatMap(({ routes = [] }) => routes),
    metrics: opened.flatMap(({ metrics = [] }) => metrics),
    offAnswer: (path) => off.map((extension) => extension.offAnswer?.(path)).find((answer) => answer),
    page: pageOf(config, known),
    pageOfInvalid: (url, prefixes) =>
      opened.map((each) => each.pageOfInvalid?.(url, prefixes)).find((page) => page !== undefined),
    authenticating: (known) =>
      opened.reduce((before, each) => before && (each.authenticating?.(before) ?? before), known),
    observer: opened.find(({ observer }) => observer)?.observer,
    observeAttempt: opened.find(({ attempt }) => attempt)?.attempt,
    sweeps: opened.flatMap(({ sweeps = [] }) => sweeps),
    warnings: async () => (await Promise.all(opened.map((each) => each.warnings?.() ?? []))).flat(),
    dispatch: opened.find(({ dispatch }) => dispatch)?.dispatch,
    async start() {
      for (const loop of loops) loop.start();
      for (const { companion } of opened) await companion?.start();
    },
    async stop(grace_ms) {
      await Promise.all(opened.map(({ companion }) => companion?.stop(grace_ms)));
    },
    async stopLoops() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
    [Symbol.asyncDispose]: close,
  };
}
