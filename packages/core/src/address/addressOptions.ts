/** The two networks of a chain. */
export type Network = 'testnet' | 'mainnet'

/** One value, or one for each network; the latter needs `network` to choose. */
export type PerNetwork<T = string> = T | { readonly testnet: T; readonly mainnet: T }

/** A secret, or a function that gives the one in force: it is asked for each attempt, so keys rotate without a restart. */
export type Secret = string | (() => string | Promise<string>)

/** What options with an address look like, for error messages. */
export const addressExample = "an object of options, such as { url: 'http://127.0.0.1:8545' }"

/** What every address may carry besides its URL. */
export interface AddressDetails {
  /** Which network; needed where a record of URLs or chain ids is given. */
  readonly network?: Network | undefined
  /** The chain id to expect. An answer that shows another one fails with kind `wrongNetwork`. */
  readonly chainId?: PerNetwork<number> | undefined
  /** A JSON Web Token, sent as `Authorization: Bearer`. RFC 6750 section 2.1. */
  readonly jwt?: Secret | undefined
}

/** An app's address: `{baseUrl}/v2/{apiKey}`. */
interface AppAddress extends AddressDetails {
  readonly baseUrl: PerNetwork
  readonly apiKey: Secret
  readonly rpcUrl?: undefined
  readonly url?: undefined
}

/** An API key's address: `{rpcUrl}/{apiKey}`. */
interface ApiKeyAddress extends AddressDetails {
  readonly rpcUrl: PerNetwork
  readonly apiKey: Secret
  readonly baseUrl?: undefined
  readonly url?: undefined
}

/** An address copied whole from the dashboard, or a node's own URL. */
interface WholeAddress extends AddressDetails {
  readonly url: string
  readonly baseUrl?: undefined
  readonly rpcUrl?: undefined
  readonly apiKey?: undefined
}

/** An app's address: `{baseUrl}/v2/{apiKey}`. A record of URLs or chain ids needs `network`. */
export type AppAddressOptions = AppAddress & (OneValue | ChosenNetwork)

/** An API key's address: `{rpcUrl}/{apiKey}`. A record of URLs or chain ids needs `network`. */
export type ApiKeyAddressOptions = ApiKeyAddress & (OneValue | ChosenNetwork)

/** An address copied whole from the dashboard, or a node's own URL. A record of chain ids needs `network`. */
export type WholeAddressOptions = WholeAddress & (OneValue | ChosenNetwork)

/**
 * Where calls go. Exactly one of `baseUrl`, `rpcUrl` and `url` is given. A record of URLs or chain ids needs `network`.
 *
 * @example
 * const app: AddressOptions = { baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…' }
 * const key: AddressOptions = { rpcUrl: { testnet: 'https://node.example/testnet', mainnet: 'https://node.example/mainnet' }, network: 'mainnet', apiKey: async () => 'kr_m…' }
 * const whole: AddressOptions = { url: 'http://127.0.0.1:8545' }
 */
export type AddressOptions = AppAddressOptions | ApiKeyAddressOptions | WholeAddressOptions

/** An address of any shape, whose network may be given elsewhere. */
export type AnyAddressOptions = AppAddress | ApiKeyAddress | WholeAddress

/** URL and chain id are the same for both networks, so `network` may be left out. */
export interface OneValue {
  readonly baseUrl?: string | undefined
  readonly rpcUrl?: string | undefined
  readonly chainId?: number | undefined
}

/** URL or chain id may be records, of which `network` chooses. */
export interface ChosenNetwork {
  readonly network: Network
}
