import type { EndpointUrlOptions } from './endpointUrlOptions.ts'

/** The names of the options that say which URL to call, and what to send with each request. */
export const urlOptionNames: readonly string[] = [
  'url',
  'baseUrl',
  'rpcUrl',
  'apiKey',
  'network',
  'chainId',
  'jwt',
  'headers',
] satisfies readonly (keyof EndpointUrlOptions)[]
