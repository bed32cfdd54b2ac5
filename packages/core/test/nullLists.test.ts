import { batch, createTransport, webSocket } from '@keyrail/core'
import type { TransportOptions } from '@keyrail/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFaultServer } from './faultServer.ts'
import type { FaultServer } from './faultServer.ts'
import { startSocketServer } from './socketServer.ts'
import type { SocketServer } from './socketServer.ts'

let server: FaultServer
let socketServer: SocketServer
beforeAll(async () => {
  server = await startFaultServer(({ json }, response) => {
    const respond = ({ id }: { readonly id: number }): object => ({ jsonrpc: '2.0', id, result: null })
    response.end(JSON.stringify(Array.isArray(json) ? json.map(respond) : respond(json)))
  })
  socketServer = await startSocketServer()
  socketServer.script = ({ reply }) => reply(null)
})
afterAll(() => Promise.all([server.close(), socketServer.close()]))

describe.each<[string, () => TransportOptions]>([
  ['over HTTP', () => ({ url: server.url })],
  ['in a batch', () => ({ url: server.url, batch: batch() })],
  ['over a WebSocket', () => ({ url: socketServer.url, webSocket: webSocket({ requests: true }) })],
])('null %s', (_, options) => {
  test('is an empty list where it has no other meaning, and null elsewhere', async () => {
    const transport = createTransport(options())
    const results = await Promise.all(
      [
        ['eth_getLogs', [{}]],
        ['eth_getFilterLogs', ['0x1']],
        ['eth_getFilterChanges', ['0x1']],
        ['eth_accounts', []],
        // An unknown block.
        ['eth_getBlockReceipts', ['0x1']],
        ['eth_getBlockByNumber', ['0x1', false]],
      ].map(([method, params]) => transport.request({ method: method as string, params: params as unknown[] })),
    )
    expect(results).toEqual([[], [], [], [], null, null])
    transport.close()
  })
})
