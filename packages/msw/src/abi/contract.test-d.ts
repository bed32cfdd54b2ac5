import { expectTypeOf, test } from 'vitest'
import type { Abi, ContractCall, MockContract, MockNode } from '../index.ts'

declare const node: MockNode
const address = '0x00000000000000000000000000000000000000aa'
const abi = [
  {
    type: 'function',
    name: 'give',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'count', type: 'uint8' },
      { name: 'amounts', type: 'uint256[]' },
      {
        name: 'pair',
        type: 'tuple',
        components: [
          { name: 'left', type: 'bool' },
          { name: 'right', type: 'bytes32[2]' },
        ],
      },
    ],
    outputs: [{ type: 'uint256' }],
  },
  { type: 'function', name: 'both', inputs: [], outputs: [{ type: 'string' }, { type: 'bool' }] },
  { type: 'function', name: 'none', inputs: [], outputs: [] },
  {
    type: 'event',
    name: 'Given',
    inputs: [
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256' },
    ],
  },
] as const satisfies Abi

test('handlers are typed by the ABI', () => {
  const contract = node.mockContract(address, abi, {
    give([to, count, amounts, pair], call) {
      expectTypeOf(to).toEqualTypeOf<`0x${string}`>()
      expectTypeOf(count).toEqualTypeOf<number>()
      expectTypeOf(amounts).toEqualTypeOf<readonly bigint[]>()
      expectTypeOf(pair).toEqualTypeOf<{ readonly left: boolean; readonly right: readonly `0x${string}`[] }>()
      expectTypeOf(call).toEqualTypeOf<ContractCall>()
      return 5n
    },
    both: () => ['text', true] as const,
    none: () => {},
  })
  expectTypeOf(contract).toEqualTypeOf<MockContract<typeof abi>>()
  contract.emit('Given', { to: address, value: 5 })
  contract.emit('Given', [address, 5n])
})

test('functions and events that the ABI does not have are type errors', () => {
  // @ts-expect-error -- There is no such function.
  node.mockContract(address, abi, { gives: () => 5n })
  // @ts-expect-error -- It returns a number.
  node.mockContract(address, abi, { give: () => 'five' })
  const contract = node.mockContract(address, abi, {})
  expectTypeOf(contract).toEqualTypeOf<MockContract<typeof abi>>()
  // @ts-expect-error -- There is no such event.
  contract.emit('Taken', {})
  // @ts-expect-error -- The value is a number.
  contract.emit('Given', { to: address, value: 'five' })
})

test('an ABI of ethers and raw handlers are accepted', () => {
  const anyAbi: { formatJson: () => string } = { formatJson: () => '[]' }
  node.mockContract(address, anyAbi, { go: ([first]) => first })
  expectTypeOf(node.mockContract(address, (call) => call.data)).toEqualTypeOf<void>()
  expectTypeOf(node.mockContract(address, { '0x70a08231': () => '0x01' })).toEqualTypeOf<void>()
})
