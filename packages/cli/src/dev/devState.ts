import { randomBytes, randomUUID } from 'node:crypto'
import { createApiKey, parseApiKey } from '@keyrail/gateway'
import type { ByNetwork } from './devChains.ts'

/** What `keyrail dev` keeps besides its chains. Holds secrets. */
export interface DevState {
  readonly version: 1
  readonly account: { readonly email: string; readonly password: string }
  readonly app: { readonly id: string; readonly apiKey: string }
  readonly keys: ByNetwork<{ readonly id: string; readonly apiKey: string }>
}

/** Makes the account, the app and the two API keys of a new data folder. */
export function createDevState(): DevState {
  return {
    version: 1,
    account: { email: 'dev@keyrail.test', password: randomBytes(18).toString('base64url') },
    app: { id: randomUUID(), apiKey: createApiKey('app') },
    keys: {
      testnet: { id: randomUUID(), apiKey: createApiKey('testnet') },
      mainnet: { id: randomUUID(), apiKey: createApiKey('mainnet') },
    },
  }
}

type Fields = Record<string, unknown>

/**
 * Reads a saved state, trusting nothing in it.
 *
 * @param text - The file's text.
 * @returns The state.
 * @throws {Error} saying which field is wrong. Its text holds no value of the file.
 */
export function parseDevState(text: string): DevState {
  let whole: unknown
  try {
    whole = JSON.parse(text)
  } catch {
    // The platform's error quotes the text, which holds keys.
    throw new Error('it is not JSON')
  }
  const object = (value: unknown, name: string): Fields => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
    throw new Error(`${name} is missing`)
  }
  const filled = (value: unknown, name: string): string => {
    if (typeof value === 'string' && value.trim() !== '') return value
    throw new Error(`${name} is missing`)
  }
  const keyOf = (value: unknown, name: string, kind: 'app' | 'testnet' | 'mainnet'): { id: string; apiKey: string } => {
    const { id, apiKey } = object(value, name)
    const key = filled(apiKey, `${name}.apiKey`)
    if (parseApiKey(key)?.kind !== kind) throw new Error(`${name}.apiKey is not a key of kind ${kind}`)
    return { id: filled(id, `${name}.id`), apiKey: key }
  }
  const state = object(whole, 'the object')
  if (state['version'] !== 1) throw new Error('its version is not 1, the only one that this keyrail knows')
  const account = object(state['account'], 'account')
  const keys = object(state['keys'], 'keys')
  return {
    version: 1,
    account: {
      email: filled(account['email'], 'account.email'),
      password: filled(account['password'], 'account.password'),
    },
    app: keyOf(state['app'], 'app', 'app'),
    keys: {
      testnet: keyOf(keys['testnet'], 'keys.testnet', 'testnet'),
      mainnet: keyOf(keys['mainnet'], 'keys.mainnet', 'mainnet'),
    },
  }
}
