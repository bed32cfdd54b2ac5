import { expect, test } from 'vitest'
import { encodeErrorResult, parseAbi } from 'viem'
import { decodeRevert } from './decodeRevert.ts'

const owner = `0x${'11'.repeat(20)}` as const
const signatures = [
  'error Foo(uint256 a)',
  'error Empty()',
  'error Nested((address owner, uint256[] amounts) order, string reason, bytes4)',
  'error Wrong(',
]
const abi = parseAbi(['error Foo(uint256 a)', 'error Empty()', 'error Error(string)', 'error Panic(uint256)'])
const nested = parseAbi(['error Nested((address owner, uint256[] amounts) order, string reason, bytes4)'])
const foo = encodeErrorResult({ abi, errorName: 'Foo', args: [5n] })

test.each([
  ['one argument', foo, 'Foo(a: 5)'],
  ['no arguments', encodeErrorResult({ abi, errorName: 'Empty' }), 'Empty()'],
  ['more bytes than arguments', `${foo}${'00'.repeat(32)}`, 'Foo(a: 5)'],
  [
    'a tuple, a list, a text, and an argument without a name',
    encodeErrorResult({
      abi: nested,
      errorName: 'Nested',
      args: [{ owner, amounts: [1n, 2n] }, 'not "yours"', '0xdeadbeef'],
    }),
    `Nested(order: (owner: ${owner}, amounts: [1, 2]), reason: "not \\"yours\\"", 0xdeadbeef)`,
  ],
  ['the error of require', encodeErrorResult({ abi, errorName: 'Error', args: ['not yours'] }), 'Error("not yours")'],
  ['a panic', encodeErrorResult({ abi, errorName: 'Panic', args: [17n] }), 'Panic(17)'],
])('an error with %s is decoded', (_, data, text) => {
  expect(decodeRevert(data, signatures)).toEqual({ kind: 'decoded', text })
})

test('an error of another contract, and one whose arguments the log cut, are not guessed', () => {
  expect(decodeRevert('0xdeadbeef00', signatures)).toEqual({ kind: 'unknown', selector: '0xdeadbeef' })
  expect(decodeRevert('0xde', signatures)).toEqual({ kind: 'unknown', selector: '0xde' })
  expect(decodeRevert(foo.slice(0, 41), signatures)).toEqual({ kind: 'cut', text: 'Foo(uint256 a)' })
})
