import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { checkNodes } from '../../src/index.ts'
import { unreachableUrl } from '../startGateway.ts'
import { writeConfig } from './serviceProcess.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-nodes-'))
const toStop: (() => void)[] = [() => rmSync(folder, { recursive: true, force: true })]
afterAll(() => {
  for (const stop of toStop) stop()
})

/** Starts a node that only knows its chain id, over HTTP and WebSocket. */
const startNode = async (chainId: number): Promise<number> => {
  const respond = (text: string): string => {
    const { id } = JSON.parse(text) as { id: number }
    return JSON.stringify({ jsonrpc: '2.0', id, result: `0x${chainId.toString(16)}` })
  }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => response.setHeader('content-type', 'application/json').end(respond(body)))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => socket.on('message', (data: Buffer) => socket.send(respond(data.toString()))))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  toStop.push(() => {
    sockets.close()
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('ethereum-mainnet that points at a development chain is found before the service starts, and no URL is shown', async () => {
  const right = await startNode(1)
  const wrong = await startNode(31_337)
  const file = writeConfig(folder, {
    publicUrl: 'http://127.0.0.1:1',
    storage: { file: 'keyrail.db' },
    networks: {
      'ethereum-mainnet': {
        chainId: 1,
        upstreams: [
          { url: `http://127.0.0.1:${right}/v3/topsecret`, wsUrl: `ws://127.0.0.1:${right}/v3/topsecret` },
          { url: `http://user:topsecret@127.0.0.1:${wrong}`, wsUrl: `ws://127.0.0.1:${wrong}/?key=topsecret` },
          { url: unreachableUrl, wsUrl: unreachableUrl.replace('http', 'ws') },
        ],
      },
    },
  })
  const checks = await checkNodes(file, { environment: {} })
  expect(checks.map(({ upstream, member, problem }) => [upstream, member, problem])).toEqual([
    ['ethereum-mainnet-1', 'url', undefined],
    ['ethereum-mainnet-1', 'wsUrl', undefined],
    ['ethereum-mainnet-2', 'url', 'its chain id is 31337, not 1'],
    ['ethereum-mainnet-2', 'wsUrl', 'its chain id is not 1'],
    ['ethereum-mainnet-3', 'url', expect.stringMatching(/^cannot connect \(/)],
    ['ethereum-mainnet-3', 'wsUrl', 'it cannot be reached by WebSocket'],
  ])
  expect(checks[0]?.redactedUrl).toBe(`http://127.0.0.1:${right}/…`)
  expect(JSON.stringify(checks)).not.toContain('topsecret')
})
