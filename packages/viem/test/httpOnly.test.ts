import { createServer } from 'node:http'
import { text as readBody } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { createPublicClient } from 'viem'
import { expect, test } from 'vitest'
import { createTransport, keyrail, webSocket } from '../src/index.ts'

test('a server without WebSocket is polled', async () => {
  const anvil = await startAnvil()
  const server = createServer((request, response) => {
    const relay = async (): Promise<void> => {
      const relayed = await fetch(anvil.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: await readBody(request),
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end(await relayed.text())
    }
    void relay()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const transport = createTransport({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    webSocket: webSocket(),
  })
  const errors: unknown[] = []
  const numbers: bigint[] = []
  const stop = createPublicClient({ transport: keyrail(transport), cacheTime: 0 }).watchBlockNumber({
    onBlockNumber: (number) => void numbers.push(number),
    onError: (error) => void errors.push(error),
  })
  try {
    await expect
      .poll(async () => {
        await transport.request({ method: 'anvil_mine', params: ['0x1'] })
        return numbers.length
      })
      .toBeGreaterThan(2)
    expect(errors).toEqual([])
  } finally {
    stop()
    transport.close()
    server.closeAllConnections()
    server.close()
    await anvil.stop()
  }
})
