import type { z } from 'zod'
import { completeNetworks } from './completeNetworks.ts'
import { ConfigError } from './configError.ts'
import type { ConfigFault } from './configError.ts'
import { getNodeGroup } from '../proxy/options/upstreamOptions.ts'
import { findNetworkLimitFaults } from './networkLimits.ts'
import { serviceConfigSchema } from './serviceConfig.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import { addVendorNodes, findVendorFaults } from './vendorNodes.ts'

/** Quotes a member name. Anything that does not look like a name could be a URL or a key and is not repeated. */
const quoteName = (name: string): string => (/^[A-Za-z$]{1,40}$/.test(name) ? `"${name}"` : '(name hidden)')

const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (before, part) =>
      typeof part === 'number' ? `${before}[${part}]` : before === '' ? String(part) : `${before}.${String(part)}`,
    '',
  )

/** The issues of a node that is neither a valid text nor a valid object: those of the form that it has. */
const toFormIssues = (issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] => {
  if (issue.code !== 'invalid_union' || issue.path.at(-2) !== 'upstreams') return [issue]
  const hasForm = issue.errors.find((issues) =>
    issues.every(({ code, path }) => code !== 'invalid_type' || path.length > 0),
  )
  return (hasForm ?? issue.errors.at(-1) ?? []).map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
}

const toFault = (issue: z.core.$ZodIssue): ConfigFault => {
  // An unknown key of a record may be a secret, so the path ends before it.
  if (issue.code === 'invalid_key')
    return { path: formatPath(issue.path.slice(0, -1)), fix: issue.issues.map(({ message }) => message).join(', ') }
  // So may the name of a header.
  const headersAt = issue.path.indexOf('headers')
  const path = formatPath(headersAt === -1 ? issue.path : issue.path.slice(0, headersAt + 1)) || 'the config'
  if (issue.code !== 'unrecognized_keys') return { path, fix: issue.message }
  const names = issue.keys.map(quoteName).join(', ')
  const members = issue.keys.length === 1 ? 'an unknown member' : 'unknown members'
  return { path, fix: `has ${members} ${names}: ${issue.message}` }
}

/**
 * Finds networks without two independent nodes, of which nothing could be stored with `cache.confirm`. One with a URL in a variable or a file is
 * checked once that is read.
 */
export const findStoreFaults = ({
  cache,
  networks,
}: Pick<ServiceConfig, 'cache' | 'networks'>): readonly ConfigFault[] =>
  Object.entries(cache?.confirm === true ? networks : {}).flatMap(([name, network]) => {
    const nodes = network.upstreams.filter((one) => !one.privateTransactions)
    const isRead = nodes.every(({ group, url }) => group !== undefined || url !== undefined)
    if (!network.cache || !isRead || new Set(nodes.map((one) => getNodeGroup(one, one.url))).size > 1) return []
    const fix = `must have nodes of two groups, because cache.confirm is true and nothing of one group is stored: add a node, or set networks.${name}.cache to false`
    return [{ path: `networks.${name}.upstreams`, fix }]
  })

/**
 * Validates a config and fills in the defaults.
 * @param input - The parsed JSON of a config file.
 * @throws {ConfigError} that names each fault and how to fix it. It repeats no value, because values can be secrets.
 * @example
 * const config = parseServiceConfig({
 *   publicUrl: 'https://rpc.example.org',
 *   networks: {
 *     'ethereum-sepolia': { upstreams: [{ url: 'http://10.0.0.5:8545' }] },
 *     'ethereum-mainnet': { upstreams: [{ url: 'http://10.0.0.6:8545' }] },
 *   },
 * })
 */
export const parseServiceConfig = (input: unknown): ServiceConfig => {
  const parsed = serviceConfigSchema.safeParse(addVendorNodes(input))
  if (!parsed.success) throw new ConfigError(parsed.error.issues.flatMap(toFormIssues).map(toFault))
  const config = { ...parsed.data, networks: completeNetworks(parsed.data.networks) }
  const faults = [
    ...findNetworkLimitFaults(config),
    ...findVendorFaults(config),
    ...findStoreFaults(config),
    ...(config.passwordLogin || config.oidc !== undefined
      ? []
      : [{ path: 'passwordLogin', fix: 'is false, so nobody could log in: add oidc, or set it to true' }]),
  ]
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}
