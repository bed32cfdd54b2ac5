import type { ExampleToken } from '../node/exampleToken.ts'
import type { FundedAccount } from '../node/fundedAccounts.ts'
import type { DevFolder } from './devFolder.ts'

/** The output of `keyrail dev --json`. Contains secrets. */
export interface DevDescription<Name extends string = 'testnet' | 'mainnet'> {
  readonly url: string
  readonly dashboard: string
  readonly account: { readonly email: string; readonly password: string }
  readonly app: {
    readonly id: string
    readonly apiKey: string
    readonly urls: Readonly<Record<Name, string>>
    /** The same URLs for WebSockets. */
    readonly wsUrls: Readonly<Record<Name, string>>
  }
  /** An account has at most four API keys: with more networks, the last ones have none. */
  readonly keys: Readonly<Record<Name, { readonly apiKey: string; readonly url: string; readonly wsUrl: string }>>
  readonly nodes: Readonly<Record<Name, string>>
  readonly chainIds: Readonly<Record<Name, number>>
  /** The accounts with funds on every network. Their private keys are public. */
  readonly fundedAccounts: readonly FundedAccount[]
  /** The example token of each network, an ERC-20. */
  readonly tokens: Readonly<Record<Name, ExampleToken>>
  /** The chain that the only node continues, with `--fork`. */
  readonly fork?: { readonly redactedUrl: string; readonly blockNumber: number }
}

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
