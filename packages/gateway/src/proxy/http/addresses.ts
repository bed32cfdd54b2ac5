import type { Network } from '../../lib/network.ts'

/**
 * The address of an app on one network: `{publicUrl}/{network}/v2/{apiKey}`. It holds the key, so it is a secret.
 * The SDK's `baseUrl` for it is `{publicUrl}/{network}`.
 * @param publicUrl - Where callers reach the gateway, with or without a trailing slash.
 * @example
 * appAddress('https://rpc.example.org', 'testnet', createApiKey('app')) // https://rpc.example.org/testnet/v2/kr_a…
 */
export const appAddress = (publicUrl: string, network: Network, apiKey: string): string =>
  `${withoutSlash(publicUrl)}/${network}/v2/${apiKey}`

/**
 * The address of an API key on its network: `{publicUrl}/{network}/{apiKey}`. It holds the key, so it is a secret.
 * The SDK's `rpcUrl` for it is `{publicUrl}/{network}`.
 * @param publicUrl - Where callers reach the gateway, with or without a trailing slash.
 * @example
 * apiKeyAddress('https://rpc.example.org', 'mainnet', createApiKey('mainnet')) // https://rpc.example.org/mainnet/kr_m…
 */
export const apiKeyAddress = (publicUrl: string, network: Network, apiKey: string): string =>
  `${withoutSlash(publicUrl)}/${network}/${apiKey}`

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')
