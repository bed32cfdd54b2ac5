import type { z } from 'zod'
import { ConfigError } from './configError.ts'
import type { ConfigFault } from './configError.ts'
import { serviceConfigSchema } from './serviceConfig.ts'
import type { ServiceConfig } from './serviceConfig.ts'

/** Whoever mixed up name and value may have put a URL or a key there. */
const shownName = (name: string): string =>
  /^[A-Za-z$]{1,40}$/.test(name) ? `'${name}'` : 'something that looks like no name'

const shownPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (before, part) =>
      typeof part === 'number' ? `${before}[${part}]` : before === '' ? String(part) : `${before}.${String(part)}`,
    '',
  )

const faultOf = (issue: z.core.$ZodIssue): ConfigFault => {
  const path = shownPath(issue.path)
  if (issue.code !== 'unrecognized_keys') return { path: path === '' ? 'the config' : path, fix: issue.message }
  return {
    path: path === '' ? 'the config' : path,
    fix: `has ${issue.keys.map(shownName).join(', ')}, which ${issue.keys.length === 1 ? 'is' : 'are'} not known; ${issue.message}`,
  }
}

/**
 * Reads a config with distrust, and fills in the defaults.
 * @param given - As it came out of JSON.
 * @throws {ConfigError} naming every fault with its fix; no value is repeated, since one may be a secret.
 * @example
 * const config = parseServiceConfig({
 *   publicUrl: 'https://rpc.example.org',
 *   chain: { name: 'Ethereum', symbol: 'ETH' },
 *   networks: {
 *     testnet: { chainId: 11155111, upstreams: [{ url: 'http://10.0.0.5:8545' }] },
 *     mainnet: { chainId: 1, upstreams: [{ url: 'http://10.0.0.6:8545' }] },
 *   },
 * })
 */
export const parseServiceConfig = (given: unknown): ServiceConfig => {
  const parsed = serviceConfigSchema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ConfigError(parsed.error.issues.map(faultOf))
}
