import { forward, slowly, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { createPublicClient } from 'viem'
import { expect, test } from 'vitest'
import { createTransport, keyrail, webSocket } from '../src/index.ts'

test('a server without WebSocket is polled', async () => {
  const anvil = await startAnvil()
  const server = await startFaultServer(
    slowly(async ({ body }, response) => {
      response.setHeader('content-type', 'application/json').end(await forward(anvil.url, body))
    }),
  )
  const transport = createTransport({ url: server.url, webSocket: webSocket() })
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
    await server.close()
    await anvil.stop()
  }
})
