/**
 * One value, or a record with one value for each network. A record requires `network`.
 *
 * @example
 * const urls: PerNetwork = { testnet: 'https://node.example/testnet', mainnet: 'https://node.example/mainnet' }
 */
export type PerNetwork<T = string, Network extends string = string> = T | Readonly<Record<Network, T>>

/** A secret, or a function that returns the current one. The function is called for each request, so a key can be rotated without a restart. */
export type Secret = string | (() => string | Promise<string>)

/** Extra request headers by name, or a function that returns them. The function is called once for each HTTP request. */
export type RequestHeaders =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)

/** The options to pass, for error messages. */
export const optionsExample = "an object of options, such as { url: 'http://127.0.0.1:8545' }"

/** The options that every endpoint takes besides its URL, network and chain id. */
interface RequestOptions {
  /** A JSON Web Token, sent as `Authorization: Bearer`. RFC 6750 section 2.1. */
  readonly jwt?: Secret | undefined
  /**
   * Extra headers for each request, such as those that a proxy requires. Values never appear in errors, logs, spans or statistics: if a
   * server sends one back, every run of 8 or more of its characters is masked. The client sets `content-type`, `host` and the headers of the
   * connection itself, so they are rejected; so is `authorization` together with `jwt` or with credentials in the URL. A function that fails
   * makes the call fail with kind `invalidRequest`.
   */
  readonly headers?: RequestHeaders | undefined
}

/** Network and chain id, where no option is a record. */
export interface SingleNetwork {
  /**
   * The name of the network, such as `'base-sepolia'`. It replaces `{network}` in the URL, and selects the value from a record of URLs or chain
   * ids, of which it must be one of the names. Lower-case letters, digits and inner hyphens, at most 63 characters.
   */
  readonly network?: string | undefined
  /** The expected chain id. A response from another chain fails with kind `wrongNetwork`. */
  readonly chainId?: number | undefined
}

/** Network and chain id, where an option is a record and the network may be given next to the endpoints. */
interface InheritedNetwork<Network extends string> {
  /** As in {@link SingleNetwork}. */
  readonly network?: NoInfer<Network> | undefined
  /** As in {@link SingleNetwork}, or a record with one id for each network. */
  readonly chainId?: PerNetwork<number, Network> | undefined
}

/** Network and chain id, where an option is a record, from which the network selects. */
export interface SelectedNetwork<Network extends string> extends InheritedNetwork<Network> {
  readonly network: NoInfer<Network>
}

interface AppUrl extends RequestOptions, SingleNetwork {
  readonly baseUrl: string
  readonly apiKey: Secret
  readonly rpcUrl?: undefined
  readonly url?: undefined
}

interface ApiKeyUrl extends RequestOptions, SingleNetwork {
  readonly rpcUrl: string
  readonly apiKey: Secret
  readonly baseUrl?: undefined
  readonly url?: undefined
}

interface FullUrl extends RequestOptions, SingleNetwork {
  readonly url: string
  readonly baseUrl?: undefined
  readonly rpcUrl?: undefined
  readonly apiKey?: undefined
}

interface AppUrls<Network extends string> extends RequestOptions, InheritedNetwork<Network> {
  readonly baseUrl: PerNetwork<string, Network>
  readonly apiKey: Secret
  readonly rpcUrl?: undefined
  readonly url?: undefined
}

interface ApiKeyUrls<Network extends string> extends RequestOptions, InheritedNetwork<Network> {
  readonly rpcUrl: PerNetwork<string, Network>
  readonly apiKey: Secret
  readonly baseUrl?: undefined
  readonly url?: undefined
}

interface FullUrlAnyChain<Network extends string> extends RequestOptions, InheritedNetwork<Network> {
  readonly url: string
  readonly baseUrl?: undefined
  readonly rpcUrl?: undefined
  readonly apiKey?: undefined
}

interface AppUrlsOfNetwork<Network extends string> extends AppUrls<Network> {
  readonly network: NoInfer<Network>
}

interface ApiKeyUrlsOfNetwork<Network extends string> extends ApiKeyUrls<Network> {
  readonly network: NoInfer<Network>
}

interface FullUrlOfNetwork<Network extends string> extends FullUrlAnyChain<Network> {
  readonly network: NoInfer<Network>
}

/** An app's endpoint: `{baseUrl}/v2/{apiKey}`. A record of URLs or chain ids requires `network`, and so does `{network}` in the URL. */
export type AppUrlOptions<Network extends string = string> = AppUrl | AppUrlsOfNetwork<Network>

/** An API key's endpoint: `{rpcUrl}/{apiKey}`. A record of URLs or chain ids requires `network`, and so does `{network}` in the URL. */
export type ApiKeyUrlOptions<Network extends string = string> = ApiKeyUrl | ApiKeyUrlsOfNetwork<Network>

/** A full URL, copied from the dashboard or of a node. A record of chain ids requires `network`, and so does `{network}` in the URL. */
export type FullUrlOptions<Network extends string = string> = FullUrl | FullUrlOfNetwork<Network>

/**
 * The URL of an endpoint, and what to send with each request. Exactly one of `baseUrl`, `rpcUrl` and `url` is given. A record of URLs or chain
 * ids requires `network`, and so does a URL that contains `{network}`.
 *
 * @example
 * const app: EndpointUrlOptions = { baseUrl: 'https://node.example/{network}', network: 'base-mainnet', apiKey: 'kr_a…' }
 * const rpcUrl = { testnet: 'https://node.example/testnet', mainnet: 'https://node.example/mainnet' }
 * const key: EndpointUrlOptions = { rpcUrl, network: 'mainnet', apiKey: async () => 'kr_m…' }
 * const full: EndpointUrlOptions = { url: 'http://127.0.0.1:8545', headers: { 'x-team': 'wallet' } }
 */
export type EndpointUrlOptions<Network extends string = string> =
  | AppUrlOptions<Network>
  | ApiKeyUrlOptions<Network>
  | FullUrlOptions<Network>

/** The URL of an endpoint in any form, where `network` may be given next to the endpoints instead. */
export type AnyEndpointUrlOptions<Network extends string = string> =
  | AppUrls<Network>
  | ApiKeyUrls<Network>
  | FullUrlAnyChain<Network>
