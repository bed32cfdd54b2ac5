import { randomBytes } from 'node:crypto'

/**
 * Makes the id of an app's JWT key, for the header `kid` of its tokens: 128 random bits, so that no two apps have the same.
 * @example
 * const kid = createJwtKeyId() // 22 letters of base64url
 */
export const createJwtKeyId = (): string => randomBytes(16).toString('base64url')

const shape = /^[\w-]{22}$/

/** Whether `createJwtKeyId` can have made it. */
export const isJwtKeyId = (kid: string): boolean => shape.test(kid)
