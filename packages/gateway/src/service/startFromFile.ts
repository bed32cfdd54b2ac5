import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { watchFiles } from '../lib/watchFiles.ts'
import { asStorageConfigError } from './asStorageConfigError.ts'
import { formatFault, isConfigError } from './configError.ts'
import { createDatabaseFolder } from './databaseFolder.ts'
import { getSecrets } from './getSecrets.ts'
import { createService } from './createService.ts'
import type { CloseOptions, Listening, Service, ServiceOptions } from './service.ts'
import { readServerSecrets } from './readServerSecrets.ts'
import { provideOperator } from './provideOperator.ts'
import type { FirstOperator } from './provideOperator.ts'
import { readServiceConfig, resolveServiceConfig } from './readServiceConfig.ts'
import { createRedact } from './redact.ts'
import type { Redact } from './redact.ts'
import type { ServiceConfig, ServiceConfigInput } from './serviceConfig.ts'
import { readServiceEnvironment } from './serviceEnvironment.ts'
import type { Environment } from './serviceEnvironment.ts'
import { createServiceLog } from './serviceLog.ts'
import type { LogStream } from './serviceLog.ts'

/** A service that was started from a config. */
export interface RunningService {
  readonly listening: Listening
  /** Reloads the config file, as the service also does when the file changes. A config with faults is logged and changes nothing. Never rejects. */
  reload(): Promise<void>
  /**
   * Creates the first operator, and an app with a key, if the service has no accounts.
   * @returns `undefined` if it has some.
   */
  provideOperator(): Promise<FirstOperator | undefined>
  /** Stops the service: see {@link Service.close}. */
  close(options?: CloseOptions): Promise<void>
  /** Ends the drain delay of a `close()` early. @returns Whether a drain delay was running. */
  skipDrainDelay(): boolean
}

/** Options of {@link startFromFile} and {@link startFromConfig}. */
export interface StartOptions {
  /**
   * Receives whole log lines, each one JSON object. Pass a stream, such as `process.stdout`, rather than a function that writes to one: if the
   * stream's reader is slow, the log then drops and counts lines instead of buffering them without bound.
   */
  readonly write: ((lines: string) => void) | LogStream
  /** The folder of the built dashboard, if the config has no `dashboard`. */
  readonly dashboard?: string | undefined
  /** The version of the program, for Prometheus and traces. @default 'unknown' */
  readonly version?: string | undefined
  /** Starts although the secret decrypts none of the stored keys, because the previous secret is lost. @default false */
  readonly newSecret?: boolean | undefined
  /** The environment variables with secrets and database URLs. @default process.env */
  readonly environment?: Environment
}

/**
 * Starts a service from a config file and the environment (`KEYRAIL_SECRET` or `KEYRAIL_SECRET_FILE`, `DATABASE_URL`, `REDIS_URL`,
 * `KEYRAIL_OPERATOR_TOKEN`). Creates the folder of an SQLite database if it does not exist, listens, and reloads the file when it changes.
 * @throws {ConfigError} if the file, the environment or the database cannot be used. {StorageError} if another process has the database open.
 * The error of a port that cannot be listened on.
 * @example
 * const service = await startFromFile({ file: 'keyrail.config.json', write: process.stdout })
 * process.once('SIGTERM', () => void service.close())
 */
export const startFromFile = ({
  file,
  ...options
}: StartOptions & { /** The path of the config file. */ readonly file: string }): Promise<RunningService> =>
  start((environment) => readServiceConfig(file, { environment }), [file], options)

/**
 * Starts a service from a config in memory, as {@link startFromFile} does from a file. Relative paths in it start at the current folder.
 * @throws The same errors.
 * @example
 * const networks = { 'base-mainnet': { upstreams: ['alchemy://ENV:ALCHEMY_KEY'] } }
 * const config = { publicUrl: 'http://127.0.0.1:8080', storage: { file: 'data/keyrail.db' }, networks }
 * const service = await startFromConfig({ config, write: process.stdout })
 */
export const startFromConfig = ({
  config,
  ...options
}: StartOptions & { /** As in a config file. */ readonly config: ServiceConfigInput }): Promise<RunningService> =>
  start((environment) => resolveServiceConfig(config, { folder: process.cwd(), environment }), [], options)

/** @param files - The files of the config. */
const start = async (
  read: (environment: Environment) => ServiceConfig,
  files: readonly string[],
  { write, dashboard, version, newSecret, environment = process.env }: StartOptions,
): Promise<RunningService> => {
  const readConfig = (): ServiceConfig => {
    const config = read(environment)
    return config.dashboard === undefined && dashboard !== undefined
      ? { ...config, dashboard: { folder: dashboard } }
      : config
  }
  let config = readConfig()
  const settings = readServiceEnvironment(config, environment)

  let redact: Redact = createRedact(getSecrets(config, environment))
  const { log, flush, dropped } = createServiceLog({
    write,
    redact: (text, kind) => redact(text, kind),
    requests: () => config.logRequests,
  })
  const logWarnings = (): void => {
    for (const what of getWarnings(config)) log({ event: 'warning', what })
  }

  const service = await openService({ config, ...settings, log, version, newSecret, droppedLogLines: dropped })
  const close = async (options?: CloseOptions): Promise<void> => {
    await service.close(options)
    flush()
  }
  let listening: Listening
  try {
    listening = await service.listen()
  } catch (error) {
    await close({ graceMs: 0 })
    throw error
  }
  logWarnings()

  const secretFile = environment['KEYRAIL_SECRET_FILE'] || undefined
  const getWatchedFiles = (): string[] => [
    ...files,
    ...(secretFile === undefined ? [] : [secretFile]),
    ...(config.tls === undefined ? [] : [config.tls.certFile, config.tls.keyFile]),
  ]
  /** Identifies the contents of the watched files: a file that is touched but not changed causes no reload. */
  const getDigests = (): string =>
    getWatchedFiles()
      .map((path) => digestFile(path))
      .join()
  let appliedDigests = getDigests()

  const reloadOnce = async (): Promise<void> => {
    try {
      const next = readConfig()
      const secrets = readServerSecrets(environment)
      // Hides the secrets of both configs while requests still use the old one.
      redact = createRedact([...getSecrets(config, environment), ...getSecrets(next, environment)])
      const needsRestart = await service.reload(next, secrets)
      const addedNetworks = Object.keys(next.networks).filter((name) => !Object.hasOwn(config.networks, name))
      config = next
      service.log({
        event: 'config',
        state: 'applied',
        ...(needsRestart.length === 0 ? {} : { needsRestart }),
        ...(addedNetworks.length === 0 ? {} : { addedNetworks, next: enableNetworks }),
      })
      logWarnings()
    } catch (error) {
      const faults = isConfigError(error) ? error.faults.map(formatFault) : ['the config could not be applied']
      service.log({ event: 'config', state: 'rejected', faults })
    }
    appliedDigests = getDigests()
  }
  let reloading: Promise<void> = Promise.resolve()
  const reload = (): Promise<void> => (reloading = reloading.then(reloadOnce))
  const stopWatching = watchFiles(getWatchedFiles(), {
    onChange: () => {
      if (getDigests() !== appliedDigests) void reload()
    },
    onWatchError: () => log({ event: 'warning', what: 'the config file cannot be watched: send SIGHUP to reload it' }),
  })

  return {
    listening,
    reload,
    provideOperator: () => provideOperator(service, listening, Object.keys(config.networks)),
    close: async (options) => {
      stopWatching()
      await reloading
      await close(options)
    },
    skipDrainDelay: service.skipDrainDelay,
  }
}

/**
 * Tunes V8's heap for a server. Call it before the service starts.
 *
 * V8 allocates objects directly in the old generation after similar ones survived a few collections. In a server that happens when a collection
 * coincides with many requests, for example while callers connect and disconnect. Request objects are then no longer collected while they are
 * young, and garbage collection takes a third of the CPU time of a call.
 * @example
 * tuneHeap()
 * const service = await startFromFile({ file: 'keyrail.config.json', write: (lines) => process.stdout.write(lines) })
 */
export const tuneHeap = (): void => setFlagsFromString('--no-allocation-site-pretenuring')

/** Warnings about a config that is valid but unsafe. */
const getWarnings = ({ publicUrl }: ServiceConfig): string[] => {
  const { protocol, hostname } = new URL(publicUrl)
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return protocol === 'https:' || isLoopback
    ? []
    : [
        'publicUrl is not https: others on the network can read keys, passwords and sessions. Set tls, or use a proxy with TLS',
      ]
}

const enableNetworks =
  'existing apps do not have the added networks: enable them in the dashboard, under Networks of each app, or with keyrail apps edit --network'

/** Creates the service, and the folder of its database. */
const openService = async (options: ServiceOptions): Promise<Service> => {
  const { storage } = options
  try {
    if ('file' in storage) createDatabaseFolder(storage.file)
    return await createService(options)
  } catch (error) {
    throw asStorageConfigError(error, storage)
  }
}

/** A hash rather than the content, because some of the files hold secrets. */
const digestFile = (path: string): string => {
  try {
    return hash('sha256', readFileSync(path))
  } catch {
    return ''
  }
}
