import { hash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { asStorageConfigError } from './asStorageConfigError.ts'
import { configSecrets } from './configSecrets.ts'
import { isConfigError } from './configError.ts'
import { createService } from './createService.ts'
import type { CloseOptions, Listening, Service, ServiceOptions } from './createService.ts'
import { readServerSecrets } from './readServerSecrets.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import { createRedact } from './redact.ts'
import type { Redact } from './redact.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import { createServiceLog } from './serviceLog.ts'
import type { LogStream } from './serviceLog.ts'
import { StorageError } from '../errors/storageError.ts'
import type { StorageOptions } from '../storage/openStorage.ts'
import { toStorageConfig } from './toStorageConfig.ts'
import { watchFiles } from '../lib/watchFiles.ts'

/** A service that runs by its config file. */
export interface RunningService {
  readonly listening: Listening
  /** Reads the config file again, as it does by itself when the file has changed. What is wrong in it is logged, and the old one stays. Never rejects. */
  reload(): Promise<void>
  /** Stops: see {@link Service.close}. */
  close(options?: CloseOptions): Promise<void>
  /** Ends the drain delay of a `close()` early. @returns Whether there was one. */
  skipDrainDelay(): boolean
}

/** How a service is started by its config file. */
export interface StartOptions {
  /** The path of the config file. */
  readonly file: string
  /**
   * Takes whole lines of the log, each one object of JSON. Give a stream, such as `process.stdout`, rather than a function that writes to one:
   * the log then drops and counts lines if the reader of the stream is slow, instead of buffering them without bound.
   */
  readonly write: ((lines: string) => void) | LogStream
  /** The folder of the built dashboard, where the config names none. */
  readonly dashboard?: string | undefined
  /** Where secrets and the URLs of databases are. @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

const faultLines = (error: unknown): readonly string[] | undefined =>
  isConfigError(error) ? error.faults.map(({ path, fix }) => `${path} ${fix}`) : undefined

/** What can be seen to be unwise before anybody calls. */
const warnings = ({ publicUrl }: ServiceConfig): string[] => {
  const { protocol, hostname } = new URL(publicUrl)
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return protocol === 'https:' || isLoopback
    ? []
    : [
        'publicUrl is not https: keys, passwords and sessions can be read on the way. Give tls, or put a proxy with TLS in front',
      ]
}

/**
 * Starts a service by its config file: reads the file and the environment (`KEYRAIL_SECRET` or `KEYRAIL_SECRET_FILE`, `DATABASE_URL`, `REDIS_URL`,
 * `KEYRAIL_OPERATOR_TOKEN`), makes the folder of an SQLite database where there is none, listens, and takes the file anew whenever it changes.
 * @throws {ConfigError} if the file, the environment or the database cannot be used. {StorageError} if another process holds the database. What listening failed with.
 * @example
 * const service = await startFromFile({ file: 'keyrail.config.json', write: process.stdout })
 * process.once('SIGTERM', () => void service.close())
 */
export const startFromFile = async ({
  file,
  write,
  dashboard,
  environment = process.env,
}: StartOptions): Promise<RunningService> => {
  const readConfig = (): ServiceConfig => {
    const read = readServiceConfig(file, { environment })
    return read.dashboard === undefined && dashboard !== undefined
      ? { ...read, dashboard: { folder: dashboard } }
      : read
  }
  let config = readConfig()
  const secrets = readServerSecrets(environment)
  let redact: Redact = createRedact(configSecrets(config, environment))
  const log = createServiceLog({ write, redact: (text) => redact(text), requests: () => config.logRequests })
  const storage = toStorageConfig(config, environment)
  const service = await openService(storage, {
    config,
    secrets,
    redisUrl: environment['REDIS_URL'] || undefined,
    operatorToken: environment['KEYRAIL_OPERATOR_TOKEN'] || undefined,
    log: log.tell,
    droppedLogLines: log.dropped,
  })
  const end = async (closing?: CloseOptions): Promise<void> => {
    await service.close(closing)
    log.flush()
  }
  let listening: Listening
  try {
    listening = await service.listen()
  } catch (error) {
    await end({ graceMs: 0 })
    throw error
  }
  for (const what of warnings(config)) log.tell({ event: 'warning', what })

  const secretFile = environment['KEYRAIL_SECRET_FILE'] || undefined
  const watched = (): string[] => [
    file,
    ...(secretFile === undefined ? [] : [secretFile]),
    ...(config.tls === undefined ? [] : [config.tls.certFile, config.tls.keyFile]),
  ]
  /** What the files held when they were last taken, so that a touch is no change. */
  const contents = (): string =>
    watched()
      .map((path) => digestOf(path))
      .join()
  let taken = contents()

  const take = async (): Promise<void> => {
    try {
      const next = readConfig()
      const newSecrets = readServerSecrets(environment)
      const hidden = createRedact([...configSecrets(config, environment), ...configSecrets(next, environment)])
      redact = hidden
      const needsRestart = await service.reload(next, newSecrets)
      config = next
      log.tell({ event: 'config', state: 'taken', ...(needsRestart.length === 0 ? {} : { needsRestart }) })
      for (const what of warnings(config)) log.tell({ event: 'warning', what })
    } catch (error) {
      const faults = faultLines(error) ?? ['something went wrong while it was taken']
      log.tell({ event: 'config', state: 'rejected', faults })
    }
    taken = contents()
  }
  let taking: Promise<void> = Promise.resolve()
  const reload = (): Promise<void> => (taking = taking.then(take))
  const stopWatching = watchFiles(watched(), {
    onChange: () => {
      if (contents() !== taken) void reload()
    },
    onWatchError: () => log.tell({ event: 'warning', what: 'changes of the config are not seen: send SIGHUP' }),
  })

  return {
    listening,
    reload,
    close: async (closing) => {
      stopWatching()
      await taking
      await end(closing)
    },
    skipDrainDelay: service.skipDrainDelay,
  }
}

/** Creates the service, and the folder of its database. */
const openService = async (storage: StorageOptions, options: Omit<ServiceOptions, 'storage'>): Promise<Service> => {
  try {
    makeFolder(storage)
    return await createService({ ...options, storage })
  } catch (error) {
    throw asStorageConfigError(error, storage)
  }
}

/** The folder of the database, for its owner alone: what lies in it is nobody else's to read. */
const makeFolder = (storage: StorageOptions): void => {
  if (!('file' in storage)) return
  try {
    mkdirSync(dirname(storage.file), { recursive: true, mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    throw new StorageError(`the folder ${dirname(storage.file)} of the database cannot be made`, {
      fault: 'unavailable',
      code,
    })
  }
}

/** Not the content itself: some of the files are secrets. */
const digestOf = (path: string): string => {
  try {
    return hash('sha256', readFileSync(path))
  } catch {
    return ''
  }
}
