import { decode, encode } from '@ethereumjs/rlp'

/** Bytes (to encode: also hex), or a nested list of bytes. */
export type Rlp = Uint8Array | string | readonly Rlp[]

/**
 * Encodes RLP.
 *
 * @see Yellow Paper, appendix B
 */
export const encodeRlp = (value: Rlp): Uint8Array => encode(value as Parameters<typeof encode>[0])

/**
 * Decodes RLP. Rejects encodings that are not canonical.
 *
 * @throws {Error} with geth's message, if the bytes are not valid RLP.
 */
export function decodeRlp(bytes: Uint8Array): Rlp {
  // The library decodes no bytes as an empty string.
  if (bytes.length === 0) throw new Error('rlp: unexpected EOF')
  try {
    return decode(bytes)
  } catch (error) {
    throw new Error(toGethMessage(String(error)))
  }
}

const toGethMessage = (message: string): string =>
  message.includes('remainder')
    ? 'rlp: input contains more than one value'
    : /out-of-bounds|not enough|larger than the data/.test(message)
      ? 'rlp: value larger than containing list'
      : 'rlp: non-canonical size information'
