import { expect, test } from 'vitest'
import { describeRevert, findRevertData } from './describeRevert.ts'

const word = (value: number): string => value.toString(16).padStart(64, '0')
const errorData = (reason: string): string =>
  `0x08c379a0${word(32)}${word(Buffer.byteLength(reason))}${Buffer.from(reason).toString('hex').padEnd(64, '0')}`
const toText = (data: unknown, message = 'execution reverted'): string => JSON.stringify({ code: 3, message, data })
const describeText = (text: string): string | undefined => {
  const data = findRevertData(text)
  return data === undefined ? undefined : describeRevert(data)
}
const insufficientBalance = `0xe450d38c${word(1)}${word(2)}${word(3)}`

test.each<[string, string, string | undefined]>([
  ['Error(string)', toText(errorData('not the owner')), 'not the owner'],
  ['Error(string) in another alphabet', toText(errorData('недостаточно')), 'недостаточно'],
  ['Error(string) of Parity', toText(`Reverted ${errorData('paused')}`, 'VM execution error.'), 'paused'],
  ['Error(string) of Hardhat', toText({ message: 'reverted', data: errorData('closed') }), 'closed'],
  ['Error(string) that is cut', toText(errorData('the market is closed')).slice(0, -50), 'the mark'],
  ['Panic(uint256)', toText(`0x4e487b71${word(0x11)}`), 'panic 0x11: arithmetic overflow or underflow'],
  ['Panic(uint256) with a new code', toText(`0x4e487b71${word(0x99)}`), 'panic 0x99: an unknown code'],
  ['a widely used custom error', toText(insufficientBalance), 'ERC20InsufficientBalance (0xe450d38c)'],
  ['another custom error', toText(`0xdeadbeef${word(7)}`), 'custom error 0xdeadbeef'],
  ['a custom error in the message', toText(undefined, 'execution reverted: 0xdeadbeef'), 'custom error 0xdeadbeef'],
])('%s is described in one line', (_, text, reason) => {
  expect(describeText(text)).toBe(`execution reverted: ${reason}`)
})

test.each([
  ['no data', toText(undefined)],
  ['empty data', toText('0x')],
  ['a text with a wrong offset', toText(`0x08c379a0${'f'.repeat(64)}`)],
  ['a panic that is cut', '{"code":3,"data":"0x4e487b71'],
  ['no JSON', 'execution reverted'],
])('a revert with %s keeps the message of its node', (_, text) => {
  expect(describeText(text)).toBeUndefined()
})
