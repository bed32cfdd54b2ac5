import type { DevDescription } from './devDescription.ts'
import type { DevFolder } from './devFolder.ts'

/** A running service and its nodes. */
export interface DevService {
  readonly description: DevDescription<string>
  readonly port: number
  /** The data folder, with one file per key and the account's password. */
  readonly folder: Pick<DevFolder, 'path' | 'keyFiles' | 'passwordFile' | 'temporary'>
  /** Creates a link to the dashboard that logs in once, within 15 minutes. A secret. */
  readonly createLogInLink: () => string
  /** Resolves if a node exits unexpectedly, with its name and how it exited. */
  readonly broken: Promise<string>
  /** Stops the service, then the nodes, and saves the chains. Safe to call twice. */
  readonly stop: () => Promise<void>
}
