import { decodeHex } from './decodeHex.ts'
import { decodeNumber } from './decodeNumber.ts'
import { decodeObject } from './decodeObject.ts'
import { decodeQuantity } from './decodeQuantity.ts'
import type { Authorization } from './transaction.ts'

/**
 * Decodes one item of an authorization list.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @see EIP-7702
 */
export function decodeAuthorization(value: unknown, path: string): Authorization {
  const authorization = decodeObject<keyof Authorization>(value, path)
  return {
    ...authorization,
    chainId: decodeQuantity(authorization.chainId, `${path}.chainId`),
    address: decodeHex(authorization.address, `${path}.address`, 20),
    nonce: decodeQuantity(authorization.nonce, `${path}.nonce`),
    yParity: decodeNumber(authorization.yParity, `${path}.yParity`),
    r: decodeQuantity(authorization.r, `${path}.r`),
    s: decodeQuantity(authorization.s, `${path}.s`),
  }
}
