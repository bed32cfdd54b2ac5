import { hash } from 'node:crypto'

/**
 * The name under which a key is stored and looked up: its SHA-256 in lower hex. A slow hash is not needed for 192 random bits.
 * @param key - The key itself.
 * @example
 * const store = createMemoryKeyStore()
 * const record = await store.find(hashApiKey(createApiKey('app')))
 */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex')
