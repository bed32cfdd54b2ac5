import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { batch, createClient } from '@keyrail/fetch'
import { reply, raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { setupServer } from 'msw/node'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { record, replay } from '../src/index.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'

let folder: string
const close: (() => unknown)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyrail-record-'))
})
afterEach(async () => {
  for (const one of close.splice(0)) await one()
  await rm(folder, { recursive: true })
})
const listen = (handlers: Parameters<typeof setupServer>): (() => void) => {
  const server = setupServer(...handlers)
  server.listen({ onUnhandledFrame: 'error' })
  return () => server.close()
}
/** A node that repeats its own URL in every response. */
const startEchoNode = async (path: string): Promise<FaultServer> => {
  const server = await startFaultServer((seen, response, socket) => {
    if (seen.json.method === 'eth_gasPrice')
      raw(401, `{"id":$ID,"error":{"code":-32600,"message":"no such key: ${path}"}}`)(seen, response, socket)
    else reply(`${server.url}${seen.path} ${encodeURIComponent(seen.path)}`)(seen, response, socket)
  })
  close.push(() => server.close())
  return server
}

test('recorded responses of a real node are replayed without the node', async () => {
  const anvil = await startAnvil()
  const recording = record(anvil.url)
  const stop = listen(recording.handlers as never)
  const live = createClient({ url: anvil.url, retry: false })
  const makeCalls = async (client: typeof live): Promise<unknown[]> => [
    await client.eth_chainId(),
    await client.eth_getBlockByNumber('latest', true),
    await client.eth_getBalance(`0x${'11'.repeat(20)}`, 'latest'),
    await client.eth_getBalance('0x12', 'latest').catch((error: { rpcError: unknown }) => error.rpcError),
    await Promise.all([client.eth_gasPrice(), client.eth_blockNumber()]),
  ]
  const seen = await makeCalls(live)
  const file = join(folder, 'calls.json')
  await recording.save(file)
  live.close()
  stop()
  await anvil.stop()

  const address = { baseUrl: 'https://node.example/testnet', apiKey: 'kr_a1234' }
  const node = await replay(file, address)
  close.push(listen(node.handlers as never))
  const client = createClient({ ...address, retry: false, batch: batch() })
  expect(await makeCalls(client)).toEqual(seen)
  client.close()
  expect(node.calls().map(({ outcome }) => outcome)).toEqual([
    'result',
    'result',
    'result',
    'error',
    'result',
    'result',
  ])
})

describe('keys', () => {
  test('are never recorded, even if a node repeats them, and calls pass through unchanged', async () => {
    const key = `kr_a+${'k3Y'.repeat(9)}"q`
    const path = `/v2/${encodeURIComponent(key)}?token=${'s3cr3t'.repeat(3)}`
    const server = await startEchoNode(path)
    const recording = record(`${server.url}${path}`)
    close.push(listen(recording.handlers as never))
    const post = async (body: object): Promise<string> =>
      (await fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) })).text()
    const direct = await post({ id: 1, method: 'eth_chainId', params: [key] })
    expect(JSON.parse(direct)).toMatchObject({ id: 1, result: expect.stringContaining('k3Y') })
    await post({ id: 1, method: 'eth_gasPrice', params: [] })
    const file = join(folder, 'calls.json')
    await recording.save(file)
    const text = await readFile(file, 'utf8')
    expect(JSON.parse(text).calls).toHaveLength(2)
    expect(text).not.toContain('k3Yk3Y')
    expect(text).not.toContain('s3cr3t')
    expect(JSON.stringify(recording.calls())).not.toContain('k3Yk3Y')
    expect(JSON.stringify(recording)).not.toContain('k3Yk3Y')
  })

  test.each([
    ['a path', '/v2/kr_aQx7Zp2LmW4tYb9cVd8'],
    ['the value of a query', '/?key=kr_aQx7Zp2LmW4tYb9cVd8'],
    ['the name of a query', '/rpc?kr_aQx7Zp2LmW4tYb9cVd8'],
  ])('are not recorded if they are %s', async (_, path) => {
    const server = await startEchoNode(path)
    const url = `${server.url}${path}`
    const recording = record(url)
    close.push(listen(recording.handlers as never))
    await fetch(url, { method: 'POST', body: '{"id":1,"method":"eth_chainId"}' })
    expect(recording.calls()).toHaveLength(1)
    expect(JSON.stringify(recording.calls())).not.toContain('Qx7Z')
  })

  test.each<[string, (key: string) => string]>([
    ['in upper case', (key) => key.toUpperCase()],
    [
      'with each character percent-encoded',
      (key) => [...key].map((one) => `%${one.charCodeAt(0).toString(16)}`).join(''),
    ],
    [
      'escaped in nested JSON',
      (key) => JSON.stringify([...key].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')),
    ],
    ['in part', (key) => key.slice(0, 20)],
  ])('are not recorded %s', async (_, write) => {
    const key = 'kr_aQx7Zp2LmW4tYb9cVd8'
    const server = await startFaultServer(reply(write(key)))
    close.push(() => server.close())
    const url = `${server.url}/v2/${key}`
    const recording = record(url)
    close.push(listen(recording.handlers as never))
    await fetch(url, { method: 'POST', body: '{"id":1,"method":"eth_chainId"}' })
    const [call] = recording.calls()
    expect(call?.method).toBe('eth_chainId')
    expect(JSON.stringify(call?.result)).toMatch(/^"[\\"]*…[\\"]*"$/)
  })

  test('of an invalid URL are not in the error', () => {
    expect(() => record('k3Yk3Yk3Y')).toThrow('The url of record has no scheme')
    expect(() => record('k3Yk3Yk3Y')).toThrow(expect.not.stringContaining('k3Y') as never)
  })
})

test('a call with several responses returns them in order and repeats the last; an unknown call fails', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const url = 'https://node.example/rpc'
  const calls = [
    { method: 'eth_blockNumber', params: [], result: '0x1' },
    { method: 'eth_blockNumber', params: [], result: '0x2' },
  ]
  const node = await replay({ calls }, { url })
  close.push(listen(node.handlers as never))
  const client = createClient({ url, retry: false })
  expect([await client.eth_blockNumber(), await client.eth_blockNumber(), await client.eth_blockNumber()]).toEqual([
    '0x1',
    '0x2',
    '0x2',
  ])
  await expect(client.eth_chainId()).rejects.toMatchObject({ kind: 'methodUnavailable' })
  await expect(client.eth_chainId()).rejects.toMatchObject({ kind: 'methodUnavailable' })
  expect(warn).toHaveBeenCalledTimes(1)
  node.fail('unavailable')
  await expect(client.eth_blockNumber()).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await client.eth_blockNumber()).toBe('0x2')
  client.close()
  warn.mockRestore()
})

test.each([[5], [{}], [null]])('replay rejects %j', async (source) => {
  await expect(replay(source as never, { url: 'https://node.example' })).rejects.toThrow('Pass what record saved')
})

test('a response that is not JSON is passed on but not recorded', async () => {
  const server = await startFaultServer(raw(502, '<html>'))
  close.push(() => server.close())
  const recording = record(server.url)
  close.push(listen(recording.handlers as never))
  const response = await fetch(server.url, { method: 'POST', body: '{"id":1,"method":"eth_chainId"}' })
  expect([response.status, await response.text()]).toEqual([502, '<html>'])
  expect(recording.calls()).toEqual([])
})
