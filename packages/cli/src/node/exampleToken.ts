import { tokenBytecode } from './tokenBytecode.ts'

/** The example token of a development network, as wallets show it. */
export interface ExampleToken {
  readonly address: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
}

/**
 * The example token: an ERC-20. Each new chain has it at the same address, because it is in the second transaction of the first account.
 *
 * @see EIP-20
 */
export const exampleToken: ExampleToken = {
  address: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512',
  name: 'Test Token',
  symbol: 'TEST',
  decimals: 18,
}

/** The initial balance of the token's creator, in whole tokens. */
export const tokenSupply = 1_000_000

const word = (hex: string): string => hex.replace(/^0x/, '').padStart(64, '0')
const uint = (value: number | bigint): string => word(value.toString(16))
const toUnits = (tokens: number): bigint => BigInt(tokens) * 10n ** BigInt(exampleToken.decimals)

/** Encodes a string of at most 32 bytes: its length and its bytes. */
const shortString = (text: string): string => uint(text.length) + Buffer.from(text).toString('hex').padEnd(64, '0')

/** The creation code of the example token, with the constructor arguments: `(string name, string symbol, uint256 supply)`. */
export const tokenCode: `0x${string}` = `${tokenBytecode}${[
  // The positions of the two strings, after three words and after the first string.
  uint(0x60),
  uint(0xa0),
  uint(toUnits(tokenSupply)),
  shortString(exampleToken.name),
  shortString(exampleToken.symbol),
].join('')}`

/**
 * Encodes a call of `transfer(address,uint256)`.
 *
 * @param to - The recipient.
 * @param tokens - The amount, in whole tokens.
 */
export function transferCall(to: string, tokens: number): `0x${string}` {
  return `0xa9059cbb${word(to)}${uint(toUnits(tokens))}`
}
