const hex = /^[0-9a-f]{64}$/

/**
 * A SHA-256 as it stands in the database.
 * @param hash - 64 lower hex digits.
 * @throws {TypeError} where it is none; what was given is not repeated, as it may be the secret itself.
 */
export const hashBytes = (hash: string): Uint8Array => {
  if (!hex.test(hash)) throw new TypeError('hash must be a SHA-256, 64 lower hex digits')
  return Buffer.from(hash, 'hex')
}
