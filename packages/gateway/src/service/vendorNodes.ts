import { findKnownNetwork } from '../lib/findKnownNetwork.ts'
import { findVendor, getVendorLogBlocks, getVendorNetwork, toVendorUrl } from '../lib/vendors.ts'
import type { ConfigFault } from './configError.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import { parseUpstreamText } from './vendorConfig.ts'

// What is known about vendors becomes ordinary nodes here: the gateway has no vendors.

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const getField = (node: unknown, field: 'vendor' | 'name'): unknown => {
  if (typeof node !== 'string') return isFields(node) ? node[field] : undefined
  const parsed: Fields = parseUpstreamText(node)
  return parsed[field]
}

/**
 * Adds a node of each vendor of `vendors` to the networks that it serves, after those that they list, unless they list one of this vendor. It works on
 * the unchecked config, so that what checks nodes checks these too.
 * @param input - The parsed JSON of a config file.
 */
export const addVendorNodes = (input: unknown): unknown => {
  if (!isFields(input) || !isFields(input['networks']) || !isFields(input['vendors'])) return input
  const wanted = Object.keys(input['vendors'])
  const addTo = (network: string, given: unknown): unknown => {
    const { chainId, upstreams = [] } = isFields(given) ? given : {}
    const known = findKnownNetwork(network, typeof chainId === 'number' ? chainId : undefined)
    const id = typeof chainId === 'number' ? chainId : known?.chainId
    if (!isFields(given) || !Array.isArray(upstreams) || id === undefined) return given
    const taken = upstreams.map((node) => getField(node, 'name'))
    const added = wanted
      .filter((name) => {
        const vendor = findVendor(name)
        const isListed = upstreams.some((node) => getField(node, 'vendor') === name)
        return vendor !== undefined && !isListed && getVendorNetwork(vendor, id) !== undefined
      })
      .map((vendor) => (taken.includes(vendor) ? { vendor } : { vendor, name: vendor }))
    return added.length === 0 ? given : { ...given, upstreams: [...upstreams, ...added] }
  }
  const networks = Object.entries(input['networks']).map(([network, given]) => [network, addTo(network, given)])
  return { ...input, networks: Object.fromEntries(networks) }
}

/** Finds nodes of vendors that do not serve their network, or have no key. */
export const findVendorFaults = ({
  networks,
  vendors: common = {},
}: Pick<ServiceConfig, 'networks' | 'vendors'>): readonly ConfigFault[] => {
  const needKey = Object.entries(common)
    .filter(([name, { keyEnv, keyFile }]) => findVendor(name)?.keyless !== true && (keyEnv ?? keyFile) === undefined)
    .map(([name]) => ({ path: `vendors.${name}`, fix: 'must have keyEnv or keyFile' }))
  const ofNodes = Object.entries(networks).flatMap(([network, { chainId, upstreams }]) =>
    upstreams.flatMap(({ vendor: name = '', keyEnv, keyFile }, index): ConfigFault[] => {
      const vendor = findVendor(name)
      if (vendor === undefined) return []
      const path = `networks.${network}.upstreams[${index}]`
      if (getVendorNetwork(vendor, chainId) === undefined)
        return [
          {
            path,
            fix: `is of ${name}, which is not known to serve the chain id ${chainId}: remove it, or use url, urlEnv or urlFile if it does`,
          },
        ]
      const hasKey = vendor.keyless === true || (keyEnv ?? keyFile) !== undefined || Object.hasOwn(common, name)
      return hasKey ? [] : [{ path, fix: `must have keyEnv or keyFile, or the config must have vendors.${name}` }]
    }),
  )
  return [...needKey, ...ofNodes]
}

type Upstream = ServiceConfig['networks'][string]['upstreams'][number]

/**
 * Makes an ordinary node of that of a vendor: its URL, and what is known about it unless the config says otherwise.
 * @param vendor - The name of the vendor, which `findVendorFaults` has checked.
 * @param key - A secret. @default none
 */
export const toOrdinaryNode = (
  { keyEnv: _env, keyFile: _file, ...given }: Upstream,
  { vendor: name, chainId, key }: { vendor: string; chainId: number; key: string | undefined },
): Upstream => {
  const vendor = findVendor(name)
  if (vendor === undefined) return given
  const maxLogBlocks = getVendorLogBlocks(vendor, chainId)
  return {
    ...(vendor.weights === undefined ? {} : { weights: vendor.weights }),
    ...(maxLogBlocks === undefined ? {} : { maxLogBlocks }),
    // Two keys of one vendor are one vote.
    group: name,
    ...given,
    url: toVendorUrl(vendor, getVendorNetwork(vendor, chainId) ?? '', key),
  }
}
