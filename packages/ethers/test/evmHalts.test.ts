import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failover, hooks, KeyrailProvider } from '../src/index.ts'

let anvil: Anvil
let second: FaultServer
let provider: KeyrailProvider
let attempts: string[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  second = await startFaultServer()
  provider = new KeyrailProvider({
    endpoints: failover([{ url: anvil.url }, { url: second.url }], { chainId: 31_337 }),
    hooks: hooks({
      onAttempt: ({ method }) => {
        attempts.push(method)
      },
    }),
  })
})
afterAll(async () => {
  provider.destroy()
  await second.close()
  await anvil.stop()
})

const to = '0x00000000000000000000000000000000000000aa'

describe('a contract whose execution halts, on a real anvil', () => {
  test.each([
    ['an invalid opcode', '0xfe', 'InvalidFEOpcode'],
    ['an opcode that does not exist', '0x0c', 'OpcodeNotFound'],
    ['a stack underflow', '0x50', 'StackUnderflow'],
    ['a stack overflow', '0x5b5f600056', 'StackOverflow'],
    ['a bad jump', '0x600056', 'InvalidJump'],
    ['an offset outside of the return data', '0x60ff5f5f3e', 'OutOfOffset'],
    ['no gas left', '0x5b600056', 'OutOfGas'],
    ['no memory left', '0x63ffffffff51', 'MemoryLimitOOG'],
  ])('%s is CALL_EXCEPTION after one request to one endpoint', async (_, code, reason) => {
    await provider.send('anvil_setCode', [to, code])
    attempts = []
    await expect(provider.call({ to })).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      failure: { kind: 'revert', retryable: false, rpcError: { message: `EVM error ${reason}` } },
    })
    expect(attempts).toEqual(['eth_call'])
    attempts = []
    await expect(provider.estimateGas({ to })).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      failure: { kind: 'revert', retryable: false },
    })
    expect(attempts).toEqual(['eth_estimateGas'])
    expect(second.seen).toEqual([])
  })

  test('a sender whose key the node does not have is one request', async () => {
    attempts = []
    await expect(provider.send('eth_sendTransaction', [{ from: to, to }])).rejects.toMatchObject({
      failure: { kind: 'invalidRequest', retryable: false, rpcError: { message: 'No Signer available' } },
    })
    await expect(provider.send('eth_sign', [to, '0x11'])).rejects.toMatchObject({ failure: { kind: 'invalidRequest' } })
    expect(attempts).toEqual(['eth_sendTransaction', 'eth_sign'])
    expect(second.seen).toEqual([])
  })
})
