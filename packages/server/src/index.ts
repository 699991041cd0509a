/** The HTTP server over a runtime, and the configuration it starts from. */

// configuration
export type { Config, ConfigInput, ConfigLocation, Environment } from './config.ts'
export { apiKeyOf, configFileNames, defineConfig, loadConfig, sourceUrlOf, storeFile } from './config.ts'
export type { ConnectionConfig, SourceConfig } from './config-schema.ts'

// serving
export type { StartOptions, WitanServer } from './serve.ts'
export { startServer } from './serve.ts'
export { openRuntime, runtimeOptions, serversOf, storeOf } from './open-runtime.ts'
export type { WitanWorker, WorkNote } from './work.ts'
export { startWorker } from './work.ts'
export { checkConfig } from './check-config.ts'
export type { RunningServer } from './server-file.ts'
export { findServer } from './server-file.ts'

// parts, for a server of one's own
export type { App, AppOptions, StopSignals } from './app-options.ts'
export { createApp } from './app.ts'
export { type Auth, type AuthMode, checkBinding, createAuth, type OwnMode } from './auth.ts'
export { type Federation, noFederation } from './federation-config.ts'
export { createKeyAuth, type KeyAuthOptions } from './auth-keys.ts'
export { openAuth, type OpenAuthOptions } from './open-auth.ts'
export type { HostPolicy } from './host.ts'
export type { Log, LogLevel } from './log.ts'
export { createLog } from './log.ts'
export { openApiDocument } from './openapi.ts'
export { apiRoutes } from './routes.ts'
