/**
 * Library entry point: load a configuration, create an app, and start it.
 *
 *     const { config } = await loadConfig({ cwd: process.cwd() });
 *     await using app = await createApp(config, { logger: silentLogger });
 *     const { url } = await app.listen();
 *     await app.ready();
 */
export { type App, type AppOptions, createApp } from './app.ts';
export { ConfigError } from './config/errors.ts';
export { type ConfigSources, type LoadedConfig, loadConfig } from './config/load.ts';
export type { Config, GraphSpec } from './config/schema.ts';
export { type Clock, systemClock } from './core/clock.ts';
export { type Ids, systemIds } from './core/ids.ts';
export { type LogDestination, logger } from './core/json-logger.ts';
export { customLogger, type Logger, type LogLine, silentLogger } from './core/logger.ts';
export type { EncryptionContext, EncryptionHandlers, GivenKeys } from './db/encryption/handlers.ts';
