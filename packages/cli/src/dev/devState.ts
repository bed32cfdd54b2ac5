import { randomBytes, randomUUID } from 'node:crypto'
import { createApiKey, parseApiKey } from '@keyrail/gateway'
import { defaultNetworks, findDevNetwork, unknownFork } from './devNetworks.ts'
import type { ByNetwork, DevNetwork } from './devNetworks.ts'

/** The saved state of `keyrail dev`, without its chains. Contains secrets. */
export interface DevState {
  readonly version: 1
  readonly account: { readonly email: string; readonly password: string }
  readonly app: { readonly id: string; readonly apiKey: string }
  readonly keys: ByNetwork<{ readonly id: string; readonly apiKey: string }>
}

/** How many API keys an account can have. */
const maxKeys = 4

const getKind = ({ testnet }: DevNetwork): 'testnet' | 'mainnet' => (testnet ? 'testnet' : 'mainnet')

/**
 * Adds an API key for each network that has none, as long as the account can have more.
 *
 * @param state - The state. It is not changed.
 * @param networks - The networks of the service.
 */
export function addKeys(state: DevState, networks: readonly DevNetwork[]): DevState {
  const free = maxKeys - Object.keys(state.keys).length
  const missing = networks.filter(({ name }) => !Object.hasOwn(state.keys, name)).slice(0, Math.max(0, free))
  const added = missing.map((network) => [
    network.name,
    { id: randomUUID() as string, apiKey: createApiKey(getKind(network)) },
  ])
  return { ...state, keys: { ...state.keys, ...Object.fromEntries(added) } }
}

/** Creates the account, the app and the API keys of a new data folder. */
export function createDevState(networks: readonly DevNetwork[] = defaultNetworks): DevState {
  return addKeys(
    {
      version: 1,
      account: { email: 'dev@keyrail.test', password: randomBytes(18).toString('base64url') },
      app: { id: randomUUID(), apiKey: createApiKey('app') },
      keys: {},
    },
    networks,
  )
}

type Fields = Record<string, unknown>

/**
 * Parses and validates a saved state.
 *
 * @param text - The file's text.
 * @returns The state.
 * @throws {Error} naming the invalid field. The message contains no value of the file.
 */
export function parseDevState(text: string): DevState {
  let whole: unknown
  try {
    whole = JSON.parse(text)
  } catch {
    // The platform's error quotes the text, which contains keys.
    throw new Error('invalid JSON')
  }
  const parseObject = (value: unknown, name: string): Fields => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
    throw new Error(`${name} is missing`)
  }
  const parseText = (value: unknown, name: string): string => {
    if (typeof value === 'string' && value.trim() !== '') return value
    throw new Error(`${name} is missing`)
  }
  const parseKey = (
    value: unknown,
    name: string,
    kind: 'app' | 'testnet' | 'mainnet',
  ): { id: string; apiKey: string } => {
    const { id, apiKey } = parseObject(value, name)
    const key = parseText(apiKey, `${name}.apiKey`)
    if (parseApiKey(key)?.kind !== kind) throw new Error(`${name}.apiKey is not a key of kind ${kind}`)
    return { id: parseText(id, `${name}.id`), apiKey: key }
  }
  const state = parseObject(whole, 'the object')
  if (state['version'] !== 1) throw new Error('unsupported version: expected 1')
  const account = parseObject(state['account'], 'account')
  const keys = parseObject(state['keys'], 'keys')
  return {
    version: 1,
    account: {
      email: parseText(account['email'], 'account.email'),
      password: parseText(account['password'], 'account.password'),
    },
    app: parseKey(state['app'], 'app', 'app'),
    keys: Object.fromEntries(
      Object.entries(keys).map(([name, key]) => {
        const network = name === unknownFork.name ? unknownFork : findDevNetwork(name)
        if (network === undefined) throw new Error(`keys.${name} is of an unknown network`)
        return [name, parseKey(key, `keys.${name}`, getKind(network))]
      }),
    ),
  }
}
