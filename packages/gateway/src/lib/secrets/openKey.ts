import { createDecipheriv } from 'node:crypto'
import { sealedParts } from './sealedParts.ts'
import type { KeyOwner } from './sealedParts.ts'
import type { ServerSecret } from './serverSecret.ts'

/**
 * Decrypts what `sealKey` made.
 * @param sealed - As it was stored.
 * @param owner - The row and the user that it was sealed for.
 * @param secrets - The newest server secret, and older ones while keys are still sealed under them.
 * @returns The key itself.
 * @throws {Error} where it is too short, was sealed under a secret that is not given, or does not open: it was changed, belongs to another
 * row or user, or the secret is another one. The message says which and holds nothing of the key or the secret.
 * @example
 * declare const sealed: Uint8Array
 * declare const secret: Parameters<typeof openKey>[2][number]
 * declare const id: string
 * declare const userId: string
 * openKey(sealed, { id, userId }, [secret])
 */
export const openKey = (sealed: Uint8Array, owner: KeyOwner, secrets: readonly ServerSecret[]): string => {
  const { version: versionLength, nonce: nonceLength, tag: tagLength } = sealedParts
  if (sealed.length <= versionLength + nonceLength + tagLength)
    throw new Error(`the sealed key is cut short: it has ${sealed.length} bytes`)
  const version = sealed[0]
  const secret = secrets.find((one) => one.version === version)
  if (secret === undefined)
    throw new Error(
      `the key is sealed under version ${version} of the server secret, and there is: ${secrets.map((one) => one.version).join(', ') || 'none'}`,
    )
  const textStart = versionLength + nonceLength
  const tagStart = sealed.length - tagLength
  const decipher = createDecipheriv('aes-256-gcm', secret.key, sealed.subarray(versionLength, textStart), {
    authTagLength: tagLength,
  })
  decipher.setAAD(sealedParts.bound(owner, secret.version)).setAuthTag(sealed.subarray(tagStart))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(textStart, tagStart)), decipher.final()]).toString('utf8')
  } catch {
    throw new Error(
      'the sealed key does not open: it was changed, belongs to another row or user, or was sealed under another server secret of this version',
    )
  }
}
