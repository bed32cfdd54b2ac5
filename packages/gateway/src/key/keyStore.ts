import type { Network } from '../network.ts'

/** What the gateway knows of one key. Never the key itself. */
export interface KeyRecord {
  /** Names the key in logs. Not a secret. */
  readonly id: string
  /** `app`: at `/{network}/v2/{key}`. `apiKey`: at `/{network}/{key}`. */
  readonly kind: 'app' | 'apiKey'
  /** Where the key may be used. */
  readonly networks: readonly Network[]
  /** Only an active key is answered; a state that is not known here is refused too. */
  readonly status: 'active' | 'revoked' | 'expired'
}

/** Finds keys. A store that throws or rejects makes the request fail with 503, never with 401. */
export interface KeyStore {
  /**
   * Finds the record of a key.
   * @param hash - The key's SHA-256 in lower hex.
   * @returns The record, or `undefined` (null is taken too) where no such key was ever made. A plain value is answered faster than a promise.
   */
  find(hash: string): KeyRecord | undefined | Promise<KeyRecord | undefined>
}
