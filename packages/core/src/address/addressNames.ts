import type { AddressOptions } from './addressOptions.ts'

/** The names of the options that say which URL to call. */
export const addressNames: readonly string[] = [
  'url',
  'baseUrl',
  'rpcUrl',
  'apiKey',
  'network',
  'chainId',
  'jwt',
] satisfies readonly (keyof AddressOptions)[]
