import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { getSecrets } from './getSecrets.ts'
import { parseServiceConfig } from './parseServiceConfig.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-'))
afterAll(() => rmSync(folder, { recursive: true }))
const networks = {}

test('gets the secrets of KEYRAIL_SECRET and KEYRAIL_SECRET_FILE, without their versions', () => {
  const [one, two, given] = [0, 1, 2].map(() => randomBytes(36).toString('base64')) as [string, string, string]
  const file = join(folder, 'secret')
  writeFileSync(file, `2:${two}\n1:${one}\n`)
  expect(getSecrets({ networks }, { KEYRAIL_SECRET_FILE: file })).toEqual([two, one])
  expect(getSecrets({ networks }, { KEYRAIL_SECRET: given })).toEqual([given])
  expect(getSecrets({ networks }, { KEYRAIL_SECRET_FILE: join(folder, 'none') })).toEqual([])
})

test('gets the headers of upstreams, and the tokens in them', () => {
  const headers = { authorization: 'Bearer atopsecret', 'x-api-key': 'another-secret' }
  const { networks: withHeaders } = parseServiceConfig({
    publicUrl: 'http://127.0.0.1',
    networks: { 'ethereum-mainnet': { upstreams: [{ url: 'http://a', headers }] } },
  })
  expect(getSecrets({ networks: withHeaders }, {})).toEqual(expect.arrayContaining(['atopsecret', 'another-secret']))
})

test('gets the keys in the WebSocket URLs of upstreams', () => {
  const wsUrl = 'wss://user:hunter22@node.example/ws/v3/topsecret-of-the-node'
  const { networks: withSocket } = parseServiceConfig({
    publicUrl: 'http://127.0.0.1',
    networks: { 'ethereum-mainnet': { upstreams: [{ url: 'http://a', wsUrl }] } },
  })
  expect(getSecrets({ networks: withSocket }, {})).toEqual(
    expect.arrayContaining([wsUrl, 'hunter22', 'topsecret-of-the-node']),
  )
})

test.each(['REDIS_URL', 'CACHE_REDIS_URL'])('gets the passwords of a %s with several hosts', (variable) => {
  const url = 'redis+sentinel://:one%40secret@h1:26379,h2:26379/mymaster?sentinel_password=another'
  expect(getSecrets({ networks }, { [variable]: url })).toEqual(
    expect.arrayContaining([url, 'one@secret', 'one%40secret', 'another']),
  )
})
