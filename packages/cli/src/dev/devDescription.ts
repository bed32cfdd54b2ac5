import type { ExampleToken } from '../node/exampleToken.ts'
import type { FundedAccount } from '../node/fundedAccounts.ts'

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
