import { expect, test } from 'vitest'
import { readErrors } from './readErrors.ts'

const foo = { type: 'error', name: 'Foo', inputs: [{ name: 'a', type: 'uint256', internalType: 'uint256' }] }
const order = {
  type: 'error',
  name: 'Late',
  inputs: [{ name: 'order', type: 'tuple[]', components: [{ name: 'owner', type: 'address' }] }],
}

test.each([
  ['JSON', JSON.stringify([foo, order]), ['error Foo(uint256 a)', 'error Late((address owner)[])']],
  [
    'the file of a compiler',
    JSON.stringify({ abi: [foo, { type: 'fallback', stateMutability: 'payable' }] }),
    ['error Foo(uint256 a)'],
  ],
  ['lines, each once', 'error Foo(uint256 a)\n\nerror Foo(uint256 a)', ['error Foo(uint256 a)']],
  [
    'lines of Solidity with a struct',
    'struct Order { address owner; }\n  error Late(Order order); // too late\nfunction pay(uint256 a);',
    ['error Late((address owner))'],
  ],
])('%s has errors', (_, text, signatures) => {
  expect(readErrors(text)).toEqual({ signatures })
})

test.each([
  ['nothing', ' \n', /is empty/],
  ['JSON that is cut', '[{"type":"error"', /no complete JSON/],
  ['another JSON', '{"a":1}', /list of ABI items/],
  [
    'an ABI without errors',
    JSON.stringify([{ type: 'constructor', inputs: [], stateMutability: 'payable' }]),
    /has no errors/,
  ],
  ['an error without a name', JSON.stringify([{ type: 'error', inputs: [] }]), /list of ABI items/],
  ['an error with a wrong name', JSON.stringify([{ type: 'error', name: '1', inputs: [] }]), /name or parameters/],
  ['a wrong type', 'error Foo(uint256 a)\nerror Bar(uint257 b)', /on line 2/],
  ['a text', 'Foo', /on line 1/],
])('%s is rejected with how to fix it', (_, text, problem) => {
  expect(readErrors(text)).toEqual({ problem: expect.stringMatching(problem) as string })
})
