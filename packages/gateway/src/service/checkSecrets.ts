import { checkStoreUrl, redisUrl as redisForm } from './checkStoreUrl.ts'
import { ConfigError } from './configError.ts'

const minOperatorToken = 32

/**
 * Checks what would be found out only when its part is made, and the storage is open already.
 * @throws {ConfigError} repeating nothing.
 */
export const checkSecrets = ({
  redisUrl,
  operatorToken,
}: {
  redisUrl?: string | undefined
  operatorToken?: string | undefined
}): void => {
  if (redisUrl !== undefined) checkStoreUrl('REDIS_URL', redisUrl, redisForm)
  if (operatorToken !== undefined && operatorToken.length < minOperatorToken)
    throw new ConfigError([
      {
        path: 'KEYRAIL_OPERATOR_TOKEN',
        fix: `must have at least ${minOperatorToken} characters, random: make one with openssl rand -base64 48`,
      },
    ])
}
