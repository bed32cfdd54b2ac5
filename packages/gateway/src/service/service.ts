import type { Accounts } from '../control/account/accounts.ts'
import type { DevelopmentMethods } from '../proxy/method/createMethodPolicy.ts'
import type { Storage } from '../storage/openStorage.ts'
import type { ProvidedAccount } from './provideAccount.ts'
import type { ServerSecrets } from './readServerSecrets.ts'
import type { RunningConfig } from './runningConfig.ts'
import type { ServiceEnvironment } from './serviceEnvironment.ts'
import type { ServiceLogEntry } from './serviceLog.ts'

/** Options of `createService`. */
export interface ServiceOptions extends ServiceEnvironment {
  readonly config: RunningConfig
  /** Offers the own methods of development nodes. @default none */
  readonly developmentMethods?: DevelopmentMethods
  /** Starts although the secrets decrypt none of the stored keys, because the previous secret is lost. @default false */
  readonly newSecret?: boolean | undefined
  /** Accepts the test keys `kr_test_…`, which return the errors of a service at its limits. For development only. @default false */
  readonly testKeys?: boolean
  /** Called for each request and each change of state. Errors that it throws are ignored. */
  readonly log?: ((entry: ServiceLogEntry) => void) | undefined
  /** The version of the program, for Prometheus and traces. @default 'unknown' */
  readonly version?: string | undefined
  /** How many log lines were dropped, for Prometheus. @default () => 0 */
  readonly droppedLogLines?: (() => number) | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** The URLs of a service. */
export interface Listening {
  /** The URL of the networks. */
  readonly url: string
  readonly port: number
  /** The URL of the dashboard and of `/api`. */
  readonly siteUrl: string
  readonly prometheusPort?: number
}

/** A service: networks, accounts, control API and dashboard. */
export interface Service {
  /**
   * Probes the nodes once, then accepts requests.
   * @param at - @default `listen` of the config
   * @throws The error of the port, such as EADDRINUSE. You can call `listen` again.
   */
  listen(at?: { host: string; port: number }): Promise<Listening>
  /**
   * Applies another config without dropping a request.
   * @returns The names of changed members that only apply after a restart. Those keep their current value.
   * @throws {ConfigError} if the config cannot be used. Nothing changes then.
   */
  reload(config: RunningConfig, secrets?: ServerSecrets): Promise<readonly string[]>
  /** Logs an entry, and counts it for Prometheus. */
  readonly log: (entry: ServiceLogEntry) => void
  /** @see provideAccount */
  provideAccount(wanted: ProvidedAccount): Promise<ProvidedAccount>
  readonly storage: Storage
  readonly accounts: Accounts
  /**
   * Stops the service. During the drain delay, `/readyz` responds with 503, and calls and the control API are still served, with
   * `Connection: close`. Then the service stops listening, completes the requests in flight, writes what it has buffered and closes the
   * storage.
   * @param options.drainDelayMs - In milliseconds. @default drainDelayMs of the config, or 0
   * @param options.graceMs - How long requests may take to complete after the drain delay before they are cut off, in milliseconds.
   * @default 10_000
   */
  close(options?: CloseOptions): Promise<void>
  /**
   * Ends the drain delay of a `close()` early.
   * @returns Whether a drain delay was running.
   */
  skipDrainDelay(): boolean
}

/** How a service stops: see {@link Service.close}. */
export interface CloseOptions {
  readonly drainDelayMs?: number
  readonly graceMs?: number
}
