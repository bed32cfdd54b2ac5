import type { ByNetwork } from './devChains.ts'
import type { DevFolder } from './devFolder.ts'

/** The output of `keyrail dev --json`. Contains secrets. */
export interface DevDescription {
  readonly url: string
  readonly dashboard: string
  readonly account: { readonly email: string; readonly password: string }
  readonly app: { readonly id: string; readonly apiKey: string; readonly urls: ByNetwork<string> }
  readonly keys: ByNetwork<{ readonly apiKey: string; readonly url: string }>
  readonly nodes: ByNetwork<string>
}

/** A running service and its nodes. */
export interface DevService {
  readonly description: DevDescription
  readonly port: number
  /** The data folder, with one file per key and the account's password. */
  readonly folder: Pick<DevFolder, 'path' | 'keyFiles' | 'passwordFile' | 'temporary'>
  /** Resolves if a node exits unexpectedly, with its name and how it exited. */
  readonly broken: Promise<string>
  /** Stops the service, then the nodes, and saves the chains. Safe to call twice. */
  readonly stop: () => Promise<void>
}
