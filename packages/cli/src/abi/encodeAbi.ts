import { getHeadSize, isDynamic } from './abiType.ts'
import type { AbiParameter, AbiType, AbiValue } from './abiType.ts'

const encodeUint = (value: bigint | number): string => BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')

/** Encodes bytes, padded to whole words. */
const encodeBytes = (hex: string): string => hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')

const encodeSized = (hex: string): string => encodeUint(hex.length / 2) + encodeBytes(hex)

function encodeValue(type: AbiType, value: AbiValue): string {
  switch (type.kind) {
    case 'uint':
    case 'int':
      return encodeUint(value as bigint)
    case 'bool':
      return encodeUint(value === true ? 1 : 0)
    case 'address':
      return (value as string).slice(2).padStart(64, '0')
    case 'string':
      return encodeSized(Buffer.from(value as string).toString('hex'))
    case 'bytes':
      return (type.size === undefined ? encodeSized : encodeBytes)((value as string).slice(2))
    case 'array': {
      const items = value as readonly AbiValue[]
      const list = encodeList(
        items.map(() => type.item),
        items,
      )
      return type.length === undefined ? encodeUint(items.length) + list : list
    }
    case 'tuple':
      return encodeList(
        type.members.map((member) => member.type),
        value as readonly AbiValue[],
      )
  }
}

/** Encodes a list: the heads, which contain static values and positions of the others, then the tails. */
function encodeList(types: readonly AbiType[], values: readonly AbiValue[]): string {
  const headSize = types.reduce((sum, type) => sum + getHeadSize(type), 0)
  let heads = ''
  let tails = ''
  for (const [index, type] of types.entries()) {
    const encoded = encodeValue(type, values[index] as AbiValue)
    if (isDynamic(type)) {
      heads += encodeUint(headSize + tails.length / 2)
      tails += encoded
    } else heads += encoded
  }
  return heads + tails
}

/**
 * Encodes the arguments of a function.
 *
 * @param parameters - The parameters.
 * @param values - One valid value for each.
 * @returns Hex digits without `0x`.
 * @see Contract ABI specification, formal specification of the encoding
 */
export const encodeAbi = (parameters: readonly AbiParameter[], values: readonly AbiValue[]): string =>
  encodeList(
    parameters.map(({ type }) => type),
    values,
  )
