import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createApiKey } from './apiKey.ts'
import { createMemoryKeyStore } from './createMemoryKeyStore.ts'
import type { KeyRecord } from './keyStore.ts'

const record: KeyRecord = { id: 'a', kind: 'app', networks: ['testnet'], status: 'active' }
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('createMemoryKeyStore', () => {
  test('finds a record by the SHA-256 of its key, and no other', () => {
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

  test('begins with the records given', () => {
    expect(createMemoryKeyStore([['00', record]]).find('00')).toEqual(record)
  })

  test('refuses what is no key, without repeating it', () => {
    expect(() => createMemoryKeyStore().add('my-secret', record)).toThrow(
      new TypeError('key is no API key: make one with createApiKey'),
    )
  })

  test('shows no key', () => {
    const keys = createMemoryKeyStore()
    const key = createApiKey('app')
    keys.add(key, record)
    expect(inspect(keys, { depth: Infinity, showHidden: true })).not.toContain(key)
  })
})
