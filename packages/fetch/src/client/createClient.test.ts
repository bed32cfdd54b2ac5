import { createTransport } from '@keyrail/core'
import type { EthereumRpc } from '@keyrail/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCountingServer } from '../../test/countingServer.ts'
import type { CountingServer } from '../../test/countingServer.ts'
import { createClient } from './createClient.ts'

let server: CountingServer
beforeAll(async () => {
  server = await startCountingServer()
})
afterAll(() => server.close())

describe('createClient', () => {
  test('calls the address of the options, with its key in the path', async () => {
    const client = createClient({ baseUrl: server.url, apiKey: 'kr_a-not-a-real-key-1234' })
    server.answer = () => '0x1'
    expect(await client.eth_chainId()).toBe('0x1')
    expect(client.redactedUrl).toBe(`${server.url}/v2/…1234`)
    client.close()
  })

  test('uses a given transport as it is', async () => {
    const transport = createTransport({ url: server.url })
    const client = createClient(transport)
    server.answer = () => '0x2'
    expect(await client.eth_chainId()).toBe('0x2')
    transport.close()
    await expect(client.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
    client.close()
  })

  test('takes methods of the user, declared where they hold no underscore', async () => {
    interface MyMethods {
      getSlot(): Promise<number>
    }
    const client = createClient<EthereumRpc & MyMethods>({ url: server.url }, ['getSlot'])
    server.answer = () => 7
    expect(await client.getSlot()).toBe(7)
    client.close()
  })

  test.each([
    [{}, 'rpcUrl'],
    [{ url: 'http://127.0.0.1', apiKey: 'a' }, 'apiKey'],
    [{ baseUrl: 'http://127.0.0.1', apiKey: ' ' }, 'apiKey'],
    [{ baseUrl: 'http://127.0.0.1', apiKey: 'http://127.0.0.1/v2/key' }, 'url'],
  ])('refuses %j when it is given', (options, mend) => {
    expect(() => Reflect.apply(createClient, undefined, [options])).toThrow(mend)
  })
})
