import type { ByNetwork } from './devChains.ts'
import type { DevFolder } from './devFolder.ts'

/** What `keyrail dev --json` prints. Holds secrets. */
export interface DevDescription {
  readonly url: string
  readonly dashboard: string
  readonly account: { readonly email: string; readonly password: string }
  readonly app: { readonly id: string; readonly apiKey: string; readonly addresses: ByNetwork<string> }
  readonly keys: ByNetwork<{ readonly apiKey: string; readonly address: string }>
  readonly nodes: ByNetwork<string>
}

/** The service and its nodes, running. */
export interface DevService {
  readonly description: DevDescription
  readonly port: number
  /** The folder with the state, and in it the folder with a file per key and the file of the account's password. */
  readonly folder: Pick<DevFolder, 'path' | 'keyFiles' | 'passwordFile' | 'temporary'>
  /** Settles when a node has ended by itself, with which and how. */
  readonly broken: Promise<string>
  /** Stops the service, then the nodes; chains are saved. Safe to call twice. */
  readonly stop: () => Promise<void>
}
