import { describe, expectTypeOf, test } from 'vitest'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { Hex } from './hex.ts'
import type { SimulatedBlockWithHashes, SimulatedBlockWithTransactions, SimulatedCall } from './simulate.ts'

declare const node: EthereumRpc
declare const full: boolean
declare const call: SimulatedCall

describe('simulation', () => {
  test('the payload decides between hashes and whole transactions', () => {
    expectTypeOf(node.eth_simulateV1({ blockStateCalls: [{}] })).resolves.toEqualTypeOf<SimulatedBlockWithHashes[]>()
    expectTypeOf(
      node.eth_simulateV1({ blockStateCalls: [], returnFullTransactions: true }, 'latest'),
    ).resolves.toEqualTypeOf<SimulatedBlockWithTransactions[]>()
    expectTypeOf(node.eth_simulateV1({ blockStateCalls: [], returnFullTransactions: full })).resolves.toEqualTypeOf<
      SimulatedBlockWithHashes[] | SimulatedBlockWithTransactions[]
    >()
  })

  test('the status distinguishes failed calls from successful ones', () => {
    expectTypeOf(call.status).toEqualTypeOf<'0x0' | '0x1'>()
    if (call.status === '0x0') expectTypeOf(call.error.data).toEqualTypeOf<Hex | undefined>()
    // @ts-expect-error a call that went well has no error
    if (call.status === '0x1') void call.error.code
  })

  test('an account has a whole storage or a change of it, not both', () => {
    const slot = { '0x00': '0x01' } as const
    expectTypeOf(node.eth_call({}, 'latest', { '0x01': { state: slot } })).resolves.toEqualTypeOf<Hex>()
    void node.eth_call({}, 'latest', { '0x01': { stateDiff: slot, balance: '0x1' } })
    // @ts-expect-error both at once
    void node.eth_call({}, 'latest', { '0x01': { state: slot, stateDiff: slot } })
    // @ts-expect-error a balance is hex
    void node.eth_call({}, 'latest', { '0x01': { balance: 1 } })
  })
})
