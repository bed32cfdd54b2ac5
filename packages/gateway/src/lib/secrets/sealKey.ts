import { createCipheriv, randomBytes } from 'node:crypto'
import { sealedParts } from './sealedParts.ts'
import type { KeyOwner } from './sealedParts.ts'
import type { ServerSecret } from './serverSecret.ts'

/**
 * Encrypts a key by AES-256-GCM, so that it can be shown again. What is sealed opens for the same row and user alone: a copy in
 * another row is of no use.
 * @param key - The key itself.
 * @param owner - The row and the user that it belongs to.
 * @param secret - The newest server secret.
 * @returns The secret's version (1 byte), a fresh nonce (12), the text encrypted, and its tag (16).
 * @example
 * declare const secret: Parameters<typeof sealKey>[2]
 * declare const id: string
 * declare const userId: string
 * const sealed = sealKey(createApiKey('app'), { id, userId }, secret)
 */
export const sealKey = (key: string, owner: KeyOwner, secret: ServerSecret): Uint8Array => {
  const nonce = randomBytes(sealedParts.nonce)
  const cipher = createCipheriv('aes-256-gcm', secret.key, nonce).setAAD(sealedParts.bound(owner, secret.version))
  return Buffer.concat([
    Buffer.of(secret.version),
    nonce,
    cipher.update(key, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}
