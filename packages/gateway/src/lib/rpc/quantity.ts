/** Formats a block number as nodes require it. */
export const toHex = (block: number): string => `0x${block.toString(16)}`

/** Parses the number in the source text of a JSON string such as `"0x1f"`; `undefined` for any other text, or none. */
export const parseQuantity = (source: string | undefined): number | undefined => {
  const digits = /^"(0x[0-9a-fA-F]{1,16})"$/.exec(source ?? '')?.[1]
  const value = digits === undefined ? NaN : Number(digits)
  return Number.isSafeInteger(value) ? value : undefined
}

/**
 * Writes an id of a filter or a subscription. Ids are quantities, which have no leading zeros: some clients, such as web3j, read them as numbers and send
 * the number back. So the first bit is set.
 * @param bytes - At least 16; the first 16 are used.
 * @returns `0x` and 32 hex digits, the first of which is not zero.
 * @see EIP-1474, Quantities
 */
export const toQuantityId = (bytes: Uint8Array): string => {
  const id = Buffer.from(bytes.subarray(0, 16))
  id.writeUInt8(id.readUInt8(0) | 0x80, 0)
  return `0x${id.toString('hex')}`
}
