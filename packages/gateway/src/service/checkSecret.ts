import { openKey } from '../lib/secrets/sealKey.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { SealedSecrets } from '../storage/sealedSecrets.ts'
import { ConfigError } from './configError.ts'

/** How many of the stored keys the server secrets decrypt. */
export interface SecretCheck {
  readonly decrypted: number
  /** How many were tried: all of them, or the first 10,000. */
  readonly stored: number
}

const pageSize = 500
/** A sample shows whether the secret is wrong, and all keys of a large service would delay its start. */
const maxKeys = 10_000

/**
 * Counts the stored keys that the secrets decrypt, and the secrets of webhooks and authenticator apps. With a wrong secret keys work, but cannot
 * be shown again, and codes of authenticator apps do not work.
 * @param storage - The repositories.
 * @param secrets - The newest secret first, then older ones that keys may still be sealed with.
 */
export const checkSecret = async (
  {
    keys,
    webhooks,
    factors,
  }: { readonly [Name in 'keys' | 'webhooks' | 'factors']: Pick<SealedSecrets, 'listSealed'> },
  secrets: readonly ServerSecret[],
): Promise<SecretCheck> => {
  let decrypted = 0
  let stored = 0
  for (const repository of [keys, webhooks, factors])
    for (let after = ''; stored < maxKeys;) {
      const page = await repository.listSealed({ after, limit: pageSize })
      for (const { id, userId, sealed } of page) {
        after = id
        stored += 1
        try {
          openKey(sealed, { id, userId }, secrets)
          decrypted += 1
        } catch {
          // Sealed with another secret.
        }
      }
      if (page.length < pageSize) break
    }
  return { decrypted, stored }
}

/** Whether no stored key was sealed with the secrets. */
export const isWrongSecret = ({ decrypted, stored }: SecretCheck): boolean => stored > 0 && decrypted === 0

/** The result in words; `undefined` if every stored key can be decrypted. */
export const describeSecretProblem = ({ decrypted, stored }: SecretCheck): string | undefined =>
  decrypted === stored ? undefined : `this secret decrypts ${decrypted} of ${stored} stored keys`

/** The error of a service whose secret decrypts none of its stored keys. */
export const wrongSecretError = (check: SecretCheck): ConfigError =>
  new ConfigError([
    {
      path: 'KEYRAIL_SECRET, or the file of KEYRAIL_SECRET_FILE,',
      fix: `is probably not the secret of this database: ${describeSecretProblem(check)}. Set the secret that the service had before. If it is lost, start with keyrail serve --new-secret: keys still work, and each is shown again once it is rotated, but codes of authenticator apps do not work`,
    },
  ])
