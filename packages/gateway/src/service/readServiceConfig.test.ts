import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readServiceConfig } from './readServiceConfig.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-config-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('KEYRAIL_PORT_OFFSET', () => {
  const read = (variable: string | undefined, members: object = {}) => {
    const file = join(folder, 'keyrail.config.json')
    const networks = { 'ethereum-mainnet': { upstreams: [{ url: 'http://127.0.0.1:9' }] } }
    writeFileSync(file, JSON.stringify({ publicUrl: 'https://rpc.example.org', networks, ...members }))
    return readServiceConfig(file, { environment: variable === undefined ? {} : { KEYRAIL_PORT_OFFSET: variable } })
  }
  const publicUrl = 'https://site.example.org'

  test('is added to each port of the config', () => {
    const members = {
      listen: { port: 8080 },
      control: { publicUrl, listen: { port: 9090 } },
      prometheus: { port: 9464 },
    }
    for (const [variable, offset] of [
      [undefined, 0],
      ['', 0],
      ['0', 0],
      ['2', 2],
    ] as const)
      expect(read(variable, members)).toMatchObject({
        publicUrl: 'https://rpc.example.org',
        listen: { host: '127.0.0.1', port: 8080 + offset },
        control: { publicUrl, listen: { port: 9090 + offset } },
        prometheus: { host: '127.0.0.1', port: 9464 + offset },
      })
  })

  test('is added to default ports, not to port 0, and adds no server', () => {
    const config = read('3')
    expect([config.listen.port, config.control, config.prometheus]).toEqual([8083, undefined, undefined])
    expect(read('3', { listen: { port: 0 } }).listen.port).toBe(0)
  })

  test.each(['-1', '1.5', '1e1', 'two', ' ', '65536'])('%j is a config error', (variable) => {
    expect(() => read(variable)).toThrow('KEYRAIL_PORT_OFFSET must be a whole number from 0 to 65535')
  })

  test('that makes a port too high is a config error', () => {
    expect(() => read('1', { prometheus: { port: 65_535 } })).toThrow(
      'KEYRAIL_PORT_OFFSET makes prometheus.port more than 65535: lower one of the two',
    )
  })
})

test('a chain store in the file of the storage is a config error', () => {
  const file = join(folder, 'same.json')
  const networks = { 'ethereum-mainnet': { upstreams: [{ url: 'http://127.0.0.1:9' }] } }
  const [storage, cache] = [{ file: 'keyrail.db' }, { file: './data/../keyrail.db' }]
  writeFileSync(file, JSON.stringify({ publicUrl: 'https://rpc.example.org', networks, storage, cache }))
  expect(() => readServiceConfig(file, { environment: {} })).toThrow('cache.file must not be the same file as storage')
})
