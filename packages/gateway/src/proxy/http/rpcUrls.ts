import type { Network } from '../../lib/network.ts'

/**
 * Gets an app's RPC URL on a network: `{publicUrl}/{network}/v2/{apiKey}`. It contains the key, so it is a secret.
 * The SDK's `baseUrl` for it is `{publicUrl}/{network}`.
 * @param publicUrl - The gateway's URL, with or without a trailing slash.
 * @example
 * getAppUrl('https://rpc.example.org', 'testnet', createApiKey('app')) // https://rpc.example.org/testnet/v2/kr_a…
 */
export const getAppUrl = (publicUrl: string, network: Network, apiKey: string): string =>
  `${trimSlashes(publicUrl)}/${network}/v2/${apiKey}`

/**
 * Gets an API key's RPC URL on its network: `{publicUrl}/{network}/{apiKey}`. It contains the key, so it is a secret.
 * The SDK's `rpcUrl` for it is `{publicUrl}/{network}`.
 * @param publicUrl - The gateway's URL, with or without a trailing slash.
 * @example
 * getApiKeyUrl('https://rpc.example.org', 'mainnet', createApiKey('mainnet')) // https://rpc.example.org/mainnet/kr_m…
 */
export const getApiKeyUrl = (publicUrl: string, network: Network, apiKey: string): string =>
  `${trimSlashes(publicUrl)}/${network}/${apiKey}`

const trimSlashes = (url: string): string => url.replace(/\/+$/, '')
