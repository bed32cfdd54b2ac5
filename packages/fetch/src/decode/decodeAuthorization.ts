import { decodeHex } from './decodeHex.ts'
import { decodeNumber } from './decodeNumber.ts'
import { decodeObject } from './decodeObject.ts'
import { decodeQuantity } from './decodeQuantity.ts'
import type { Authorization } from './transaction.ts'

/**
 * Decodes one item of an authorization list.
 *
 * @param value - What the node sent.
 * @param what - Its path in the response, for the error message.
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @see EIP-7702
 */
export function decodeAuthorization(value: unknown, what: string): Authorization {
  const authorization = decodeObject<keyof Authorization>(value, what)
  return {
    ...authorization,
    chainId: decodeQuantity(authorization.chainId, `${what}.chainId`),
    address: decodeHex(authorization.address, `${what}.address`, 20),
    nonce: decodeQuantity(authorization.nonce, `${what}.nonce`),
    yParity: decodeNumber(authorization.yParity, `${what}.yParity`),
    r: decodeQuantity(authorization.r, `${what}.r`),
    s: decodeQuantity(authorization.s, `${what}.s`),
  }
}
