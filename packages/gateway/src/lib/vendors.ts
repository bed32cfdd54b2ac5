import known from './vendors.json' with { type: 'json' }

/** A provider of nodes whose URLs differ in the network and the key only. */
export interface Vendor {
  /** Its name for people. */
  readonly title: string
  /** The URL of its nodes. `{network}` and `{key}` are replaced. */
  readonly url: string
  /** The pages of its public documentation to check the row by. */
  readonly sources: readonly string[]
  /** The day on which the row was written, such as `2026-11-30`. */
  readonly date: string
  /** Whether its nodes need no key. @default false */
  readonly keyless?: boolean
  /** How many units it bills for a call of a method. `*` is any other method. @default 1 for each */
  readonly weights?: Readonly<Record<string, number>>
  /** How many blocks of logs a paid plan accepts in one query, by chain id. `*` is any other chain, and `null` means no limit. @default not known */
  readonly logBlocks?: Readonly<Record<string, number | null>>
  /** Its names of the networks, by chain id. @default it has all networks, and their names are their chain ids */
  readonly networks?: Readonly<Record<string, string>>
}

/** The vendors by the name that a config has. */
export const vendors: Readonly<Record<string, Vendor>> = known

/** Vendors whose URLs cannot be made from a key, because each endpoint has a host of its own. */
export const vendorsByUrl: readonly string[] = ['quicknode', 'chainstack']

/** Finds a vendor by its name. */
export const findVendor = (name: string): Vendor | undefined =>
  Object.hasOwn(vendors, name) ? vendors[name] : undefined

const getOf = <T>(values: Readonly<Record<string, T>> | undefined, key: string | number): T | undefined =>
  values !== undefined && Object.hasOwn(values, key) ? values[key] : values?.['*']

/** Gets a vendor's name of a network; `undefined` if it does not serve the network. */
export const getVendorNetwork = ({ networks }: Vendor, chainId: number): string | undefined =>
  networks === undefined ? String(chainId) : getOf(networks, chainId)

/** Gets how many blocks of logs a vendor accepts in one query; `undefined` if it has no limit, or none is known. */
export const getVendorLogBlocks = ({ logBlocks }: Vendor, chainId: number): number | undefined =>
  getOf(logBlocks, chainId) ?? undefined

/**
 * Makes the URL of a vendor's node.
 * @param network - From {@link getVendorNetwork}.
 * @param key - A secret. @default none
 */
export const toVendorUrl = ({ url }: Vendor, network: string, key = ''): string =>
  url.replace('{network}', network).replace('{key}', encodeURIComponent(key))

const networkNames: ReadonlySet<string> = new Set(
  Object.values(vendors).flatMap(({ networks }) => Object.values(networks ?? {})),
)

/** Whether a part of a URL is a vendor's name of a network. It is no secret, and hiding it would hide common words, such as `arbitrum`. */
export const isVendorNetwork = (part: string): boolean => networkNames.has(part)
