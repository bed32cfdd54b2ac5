import { formatType, getHeadSize, isDynamic } from './abiType.ts'
import type { AbiParameter, AbiType, AbiValue } from './abiType.ts'

/**
 * Decodes the results of a function, or the data of a log. Strict: it rejects any value that Solidity would reject.
 *
 * @param parameters - The parameters.
 * @param hex - The encoded values. Bytes after them are ignored, as Solidity does.
 * @param decodeText - Decodes a string. By default, letters that are not UTF-8 are replaced.
 * @returns One value for each parameter.
 * @throws {Error} if the bytes are not values of these types.
 * @see Contract ABI specification, formal specification of the encoding, strict encoding mode
 */
export function decodeAbi(
  parameters: readonly AbiParameter[],
  hex: string,
  decodeText: (bytes: Buffer) => string | null = (bytes) => bytes.toString(),
): AbiValue[] {
  const data = hex.slice(2).toLowerCase()
  // A valid encoding is read once. Positions that point to the same bytes again and again could make a short response expand to gigabytes.
  let unread = data.length

  const read = (at: number, size: number): string => {
    unread -= size * 2
    if ((at + size) * 2 > data.length || unread < 0) throw new Error('it is too short')
    return data.slice(at * 2, (at + size) * 2)
  }
  const readUint = (at: number): bigint => BigInt(`0x${read(at, 32)}`)
  /** Reads a position or a length. */
  const readSize = (at: number): number => {
    const size = readUint(at)
    if (size * 2n > BigInt(data.length)) throw new Error('it is too short')
    return Number(size)
  }
  const readSized = (at: number): string => read(at + 32, readSize(at))

  const decodeValue = (type: AbiType, at: number): AbiValue => {
    const invalid = (): Error => new Error(`it has an invalid ${formatType(type)}`)
    switch (type.kind) {
      case 'uint':
      case 'int': {
        const word = readUint(at)
        const value = type.kind === 'uint' ? BigInt.asUintN(type.bits, word) : BigInt.asIntN(type.bits, word)
        if (BigInt.asUintN(256, value) !== word) throw invalid()
        return value
      }
      case 'bool': {
        const word = readUint(at)
        if (word > 1n) throw invalid()
        return word === 1n
      }
      case 'address': {
        const word = read(at, 32)
        if (!word.startsWith('0'.repeat(24))) throw invalid()
        return `0x${word.slice(24)}`
      }
      case 'bytes': {
        if (type.size === undefined) return `0x${readSized(at)}`
        const word = read(at, 32)
        if (/[^0]/.test(word.slice(type.size * 2))) throw invalid()
        return `0x${word.slice(0, type.size * 2)}`
      }
      case 'string':
        return decodeText(Buffer.from(readSized(at), 'hex'))
      case 'array': {
        const length = type.length ?? readSize(at)
        if (length * getHeadSize(type.item) * 2 > data.length) throw new Error('it is too short')
        return decodeList(
          Array.from({ length }, () => type.item),
          type.length === undefined ? at + 32 : at,
        )
      }
      case 'tuple':
        return decodeList(
          type.members.map((member) => member.type),
          at,
        )
    }
  }
  const decodeList = (types: readonly AbiType[], start: number): AbiValue[] => {
    let at = start
    return types.map((type) => {
      const value = decodeValue(type, isDynamic(type) ? start + readSize(at) : at)
      at += getHeadSize(type)
      return value
    })
  }
  return decodeList(
    parameters.map(({ type }) => type),
    0,
  )
}
