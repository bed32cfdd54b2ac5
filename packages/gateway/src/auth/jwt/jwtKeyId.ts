import { randomBytes } from 'node:crypto'

/**
 * Creates the id of an app's JWT key, for the `kid` header of its tokens: 128 random bits, so that ids are unique across apps.
 * @example
 * const kid = createJwtKeyId() // 22 letters of base64url
 */
export const createJwtKeyId = (): string => randomBytes(16).toString('base64url')

const shape = /^[\w-]{22}$/

/** Whether a text has the form of an id from `createJwtKeyId`. */
export const isJwtKeyId = (kid: string): boolean => shape.test(kid)
