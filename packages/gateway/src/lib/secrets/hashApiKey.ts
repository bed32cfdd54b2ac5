import { hash } from 'node:crypto'

/**
 * Hashes a key for storage and look-up: SHA-256 in lower-case hex. 192 random bits need no slow hash.
 * @param key - The key.
 * @example
 * hashApiKey(createApiKey('app'))
 */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex')
