import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { ServerSecret } from './serverSecret.ts'

/** The row and the user that a sealed key is bound to. */
export interface KeyOwner {
  /** The id of the key's row. */
  readonly id: string
  readonly userId: string
}

// The layout of a sealed key, in bytes: version, nonce, encrypted text, tag.
const versionLength = 1
const nonceLength = 12
const tagLength = 16

/** The additional authenticated data, which is not stored. It is a JSON list, so that it differs for any two owners. */
const getAad = ({ id, userId }: KeyOwner, version: number): Buffer => Buffer.from(JSON.stringify([version, id, userId]))

/**
 * Encrypts a key with AES-256-GCM, so that it can be shown again. A sealed key can only be opened for the same row and user: a copy in another
 * row is useless.
 * @param key - The key.
 * @param owner - The row and the user that it belongs to.
 * @param secret - The newest server secret.
 * @returns The version of the secret (1 byte), a random nonce (12), the encrypted text, and its tag (16).
 * @example
 * declare const secret: Parameters<typeof sealKey>[2]
 * declare const id: string
 * declare const userId: string
 * const sealed = sealKey(createApiKey('app'), { id, userId }, secret)
 */
export const sealKey = (key: string, owner: KeyOwner, secret: ServerSecret): Uint8Array => {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv('aes-256-gcm', secret.key, nonce).setAAD(getAad(owner, secret.version))
  return Buffer.concat([
    Buffer.of(secret.version),
    nonce,
    cipher.update(key, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

/**
 * Decrypts a key that `sealKey` encrypted.
 * @param sealed - The stored bytes.
 * @param owner - The row and the user that it was sealed for.
 * @param secrets - The newest server secret, and older ones while keys are still sealed with them.
 * @returns The key.
 * @throws {Error} If it is cut off, was sealed with a secret that is not given, or cannot be decrypted, because it was changed, belongs to
 * another row or user, or was sealed with another secret. The message says which and contains neither the key nor the secret.
 * @example
 * declare const sealed: Uint8Array
 * declare const secret: Parameters<typeof openKey>[2][number]
 * declare const id: string
 * declare const userId: string
 * openKey(sealed, { id, userId }, [secret])
 */
export const openKey = (sealed: Uint8Array, owner: KeyOwner, secrets: readonly ServerSecret[]): string => {
  if (sealed.length <= versionLength + nonceLength + tagLength)
    throw new Error(`the sealed key is cut off: it has only ${sealed.length} bytes`)
  const version = sealed[0]
  const secret = secrets.find((one) => one.version === version)
  if (secret === undefined)
    throw new Error(
      `the key is sealed with version ${version} of the server secret, but the available versions are: ${secrets.map((one) => one.version).join(', ') || 'none'}`,
    )
  const textStart = versionLength + nonceLength
  const tagStart = sealed.length - tagLength
  const decipher = createDecipheriv('aes-256-gcm', secret.key, sealed.subarray(versionLength, textStart), {
    authTagLength: tagLength,
  })
  decipher.setAAD(getAad(owner, secret.version)).setAuthTag(sealed.subarray(tagStart))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(textStart, tagStart)), decipher.final()]).toString('utf8')
  } catch {
    throw new Error(
      'the sealed key cannot be decrypted: it was changed, belongs to another row or user, or was sealed with another server secret of this version',
    )
  }
}
