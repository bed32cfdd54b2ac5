/** The name of a network that the service offers, such as `ethereum-mainnet`: a part of its URLs. */
export type Network = string

const networkPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Names that are paths of the service. */
const reservedNames: ReadonlySet<string> = new Set([
  'api',
  'app',
  'apps',
  'assets',
  'account',
  'healthz',
  'keys',
  'log-in',
  'metrics',
  'operator',
  'readyz',
  'reset-password',
  'sign-up',
  'v2',
  'ws',
])

/** The rule for network names, for messages. */
export const networkNameRule =
  'must be 1 to 63 lower-case letters, digits and inner hyphens, such as "ethereum-mainnet", and no path of the service, such as "api"'

/** Whether a text can be the name or an alias of a network. */
export const isNetworkName = (text: string): boolean => networkPattern.test(text) && !reservedNames.has(text)

/** The properties of a network, without its nodes. */
export interface NetworkDetails {
  /** The chain that it is a network of, for example `ethereum`. */
  readonly chain: string
  /** For people, for example `Base Sepolia`. */
  readonly title: string
  readonly chainId: number
  /** The symbol of its coin. */
  readonly symbol: string
  /** Whether its coin has no value. */
  readonly testnet: boolean
  /** Other names, which its URLs can have too. */
  readonly aliases: readonly string[]
  /** The URL of a block explorer. */
  readonly explorerUrl?: string
}
