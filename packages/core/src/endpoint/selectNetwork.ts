import { check } from '../failure/check.ts'

/** A DNS label, as the service names its networks: safe in one segment of a URL's path, and unlike most keys. */
const networkName = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

/** The part of a URL that the name of the network replaces. */
const placeholder = '{network}'

/** Longer names are not shown: they may be a misplaced key. */
const MAX_SHOWN_LENGTH = 24

const MAX_SHOWN_NAMES = 20

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Object.prototype.toString.call(value) === '[object Object]' && Object.keys(value as object).length > 0

const shown = (name: string): string => (name.length > MAX_SHOWN_LENGTH ? '…' : name)

const listNames = (record: object): string => {
  const names = Object.keys(record)
  const rest = names.length > MAX_SHOWN_NAMES ? ', …' : ''
  return names.slice(0, MAX_SHOWN_NAMES).map(shown).join(', ') + rest
}

/**
 * Checks the name of a network.
 *
 * @throws {KeyrailError} kind `invalidRequest`. The message does not show the name.
 */
export function checkNetwork(network: unknown): void {
  check(
    network === undefined || (typeof network === 'string' && networkName.test(network)),
    'network must be a name such as "sepolia": lower-case letters, digits and hyphens, at most 63 characters.',
  )
}

/**
 * Returns the URL of a network: selects it from a record, and replaces `{network}` in it with the name. A full `url` is never a record.
 *
 * @param option - The option's name, for errors.
 * @param value - The option's value.
 * @param network - The name of the network, if one was given. It needs no escapes: {@link checkNetwork} has checked it.
 * @throws {KeyrailError} kind `invalidRequest` if the URL or the record needs `network` and there is none.
 * @example
 * selectUrl('baseUrl', 'https://node.example/{network}', 'sepolia') // 'https://node.example/sepolia'
 */
export function selectUrl(option: string, value: unknown, network: string | undefined): unknown {
  const url = option === 'url' ? value : selectNetwork(option, value, network)
  if (typeof url !== 'string' || !url.includes(placeholder)) return url
  check(network !== undefined, `${option} contains {network}. Pass network, such as "sepolia".`)
  return url.replaceAll(placeholder, network)
}

/**
 * Selects the value of a network from a record. Any other value is returned as it is.
 *
 * @param option - The option's name, for errors.
 * @param value - The option's value.
 * @param network - The name of the network, if one was given.
 * @throws {KeyrailError} kind `invalidRequest` with the names in the record, if `network` is missing or not one of them.
 * @example
 * selectNetwork('chainId', { sepolia: 11155111, mainnet: 1 }, 'mainnet') // 1
 */
export function selectNetwork(option: string, value: unknown, network: string | undefined): unknown {
  if (!isRecord(value)) return value
  const names = listNames(value)
  check(network !== undefined, `${option} is a record of networks. Pass network, one of ${names}.`)
  check(Object.hasOwn(value, network), `Unknown network "${shown(network)}". ${option} has ${names}.`)
  return value[network]
}
