import { createHash, generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { compileJwtPolicy } from '../jwt/jwtPolicy.ts'
import { createApiKey } from '../../lib/secrets/apiKey.ts'
import { createMemoryKeyStore } from './createMemoryKeyStore.ts'
import { networkNameRule } from '../../lib/network.ts'
import type { KeyRecord } from './keyStore.ts'

const record: KeyRecord = { id: 'a', kind: 'app', networks: ['testnet'], status: 'active' }
const hash = '0'.repeat(64)
const publicPem = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString()
const networkError =
  'record.networks must be a list of at least one network. A name must be 1 to 63 lower-case letters, digits and inner hyphens, such as "ethereum-mainnet", and no path of the service, such as "api"'
const statusError = "record.status must be one of 'active', 'revoked', 'expired', 'disabled'"
const expiryError = 'record.expiresAt must be a time in milliseconds since 1970, or null for never'
const limits = { perSecond: 10, burst: 100, perDay: 1_000, perMonth: null }
const rateError = 'limits.perSecond must be a whole number from 1 to 1000000, or null for none'
const burstError = 'limits.burst must be a whole number from 1 to 1000000'
const dayError = 'limits.perDay must be a whole number from 0 to 1000000000, or null for none'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('createMemoryKeyStore', () => {
  test('finds a record by the SHA-256 of its key only', () => {
    const keys = createMemoryKeyStore()
    const key = createApiKey('app')
    expect(keys.find(sha256(key))).toBeUndefined()
    keys.add(key, record)
    expect(keys.find(sha256(key))).toEqual(record)
    expect(keys.find(sha256(createApiKey('app')))).toBeUndefined()
    keys.add(key, { ...record, status: 'revoked' })
    expect(keys.find(sha256(key))?.status).toBe('revoked')
    expect([keys.remove(key), keys.remove(key), keys.find(sha256(key))]).toEqual([true, false, undefined])
  })

  test('stores every member of a record', () => {
    const keys = createMemoryKeyStore()
    const key = createApiKey('app')
    const rates = { ...limits, networks: { mainnet: { perSecond: null, burst: 5 } } }
    const whole: KeyRecord = {
      ...record,
      expiresAt: 5,
      userId: 'u',
      appId: 'a',
      version: 3,
      services: [],
      limits: rates,
    }
    keys.add(key, whole)
    expect(keys.find(sha256(key))).toEqual(whole)
  })

  test("finds an app's record by the id of one of its JWT keys", () => {
    const jwt = { policy: compileJwtPolicy({ keys: [{ kid: 'kid-1', pem: publicPem }] }), required: true }
    const keys = createMemoryKeyStore([[hash, { ...record, jwt }]])
    keys.add(createApiKey('app'), record)
    expect(keys.findByKid('kid-1')?.jwt).toEqual(jwt)
    expect(keys.findByKid('kid-2')).toBeUndefined()
  })

  test('has the initial records', () => {
    expect(createMemoryKeyStore([[hash, record]]).find(hash)).toEqual(record)
  })

  test.each([
    ['not an object', undefined, 'record must be an object with id, kind, networks and status'],
    ['no id', { ...record, id: '' }, 'record.id must be a non-empty string'],
    ['kind', { ...record, kind: 'testnet' }, "record.kind must be one of 'app', 'apiKey'"],
    ['no networks', { ...record, networks: undefined }, networkError],
    ['networks as a string', { ...record, networks: 'testnet' }, networkError],
    ['an empty list of networks', { ...record, networks: [] }, networkError],
    ['a name that no network can have', { ...record, networks: ['testnet', 'Sepolia'] }, networkError],
    ['status', { ...record, status: 'Active' }, statusError],
    ['no status', { ...record, status: undefined }, statusError],
    ['an expiry as a string', { ...record, expiresAt: '2026-11-21' }, expiryError],
    ['an expiry that is not a number', { ...record, expiresAt: Number.NaN }, expiryError],
    ['a rate of 0', { ...record, limits: { ...limits, perSecond: 0 } }, rateError],
    ['no burst', { ...record, limits: { ...limits, burst: undefined } }, burstError],
    [
      'a rate of 0 on a network',
      { ...record, limits: { ...limits, networks: { mainnet: { perSecond: 0, burst: 1 } } } },
      'limits.networks.mainnet.perSecond must be a whole number from 1 to 1000000, or null for none',
    ],
    [
      'a rate on a network with a wrong name',
      { ...record, limits: { ...limits, networks: { Main: { perSecond: 1, burst: 1 } } } },
      `a name in limits.networks ${networkNameRule}`,
    ],
    ['half a call per day', { ...record, limits: { ...limits, perDay: 0.5 } }, dayError],
  ])('rejects an invalid record, added or initial: %s', (_, wrong, message) => {
    const keys = createMemoryKeyStore()
    const key = createApiKey('app')
    expect(() => keys.add(key, wrong as KeyRecord)).toThrow(new TypeError(message))
    expect(keys.find(sha256(key))).toBeUndefined()
    expect(() => createMemoryKeyStore([[hash, wrong as KeyRecord]])).toThrow(new TypeError(message))
  })

  test('rejects a key in place of its hash, without repeating it', () => {
    expect(() => createMemoryKeyStore([[createApiKey('app'), record]])).toThrow(
      new TypeError('records must be keyed by the hash of their API key, 64 lower-case hex digits: use hashApiKey'),
    )
  })

  test('copies records', () => {
    const networks: ('testnet' | 'mainnet')[] = ['testnet']
    const keys = createMemoryKeyStore([[hash, { ...record, networks }]])
    networks.push('mainnet')
    expect(keys.find(hash)?.networks).toEqual(['testnet'])
  })

  test('rejects an invalid key, without repeating it', () => {
    expect(() => createMemoryKeyStore().add('my-secret', record)).toThrow(
      new TypeError('key is not an API key: create one with createApiKey'),
    )
  })

  test('contains no key', () => {
    const keys = createMemoryKeyStore()
    const key = createApiKey('app')
    keys.add(key, record)
    expect(inspect(keys, { depth: Infinity, showHidden: true })).not.toContain(key)
  })
})
