import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { raw, startFaultServer } from '../../test/faultServer.ts'
import type { FaultServer } from '../../test/faultServer.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { createProvider } from './createProvider.ts'
import { createTransport } from './createTransport.ts'
import type { KeyrailTransport } from './transport.ts'
import { getError } from '../../test/getFailure.ts'

let server: FaultServer
let transport: KeyrailTransport
beforeEach(async () => {
  server = await startFaultServer()
  transport = createTransport({ url: server.url, retry: false })
})
afterEach(async () => {
  transport.close()
  await server.close()
})

const callAndFail = (): Promise<unknown> =>
  getError(createProvider(transport).request({ method: 'eth_call', params: [{}, 'latest'] }))

test('returns the result', async () => {
  const provider = createProvider(transport)
  expect(await provider.request({ method: 'eth_blockNumber' })).toBe('0x1')
  expect(provider.on('connect', () => {}).removeListener('connect', () => {})).toBe(provider)
})

describe('a failure has the code of EIP-1193', () => {
  test.each([
    ['an unknown method', 200, { code: -32_601, message: 'the method eth_call does not exist' }, 4200],
    ['a node that rejects', 200, { code: -32_000, message: 'nonce too low' }, -32_000],
    ['a rejected key', 401, 'no such key', 4100],
    ['a gateway that is down', 503, 'down', -32_603],
  ] as const)('%s', async (_, status, response, code) => {
    server.script = raw(
      status,
      typeof response === 'string' ? response : `{"jsonrpc":"2.0","id":$ID,"error":${JSON.stringify(response)}}`,
    )
    const failure = await callAndFail()
    expect(failure).toMatchObject({ code, ...(typeof response === 'object' && { message: response.message }) })
    expect(isKeyrailError(failure)).toBe(true)
  })

  test('a revert in any form that nodes use', async () => {
    server.script = raw(
      200,
      '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32015,"message":"VM execution error.","data":"Reverted 0x82b42900"}}',
    )
    expect(await callAndFail()).toMatchObject({
      code: 3,
      message: 'execution reverted',
      data: '0x82b42900',
      kind: 'revert',
    })
  })

  test('a transport that is closed, or whose endpoint is unreachable', async () => {
    server.script = (_, __, socket) => void socket.destroy()
    expect(await callAndFail()).toMatchObject({ code: 4900, kind: 'network' })
    transport.close()
    expect(await callAndFail()).toMatchObject({ code: 4900, kind: 'aborted' })
  })
})
