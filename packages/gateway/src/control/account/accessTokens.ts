import { audit, toAccount } from './accountParts.ts'
import type { AccountParts } from './accountParts.ts'
import { reject } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Accounts } from './accounts.ts'
import { createSecretText, hashSecret, isSecretText } from './secretText.ts'

const touchEveryMs = 60_000
const maxTokens = 20
const maxLabel = 64
const maxScopes = 32
const scopeShape = /^[a-z][a-zA-Z]{0,31}(?::[a-z][a-zA-Z]{0,31})?$/

const findFault = ({
  label,
  scopes,
  expiresAt,
  now,
}: {
  label: string
  scopes: readonly string[]
  expiresAt: number | null
  now: number
}): AccountError | undefined => {
  const length = [...label.trim()].length
  if (length < 1 || length > maxLabel || /[\p{Cc}\p{Cs}]/u.test(label))
    return {
      status: 422,
      code: 'label_invalid',
      message: `label must have 1 to ${maxLabel} characters, none of them a control character`,
      field: 'label',
    }
  const good = scopes.length > 0 && scopes.length <= maxScopes && scopes.every((scope) => scopeShape.test(scope))
  if (!good || new Set(scopes).size !== scopes.length)
    return {
      status: 422,
      code: 'scopes_invalid',
      message: 'scopes must be a list of at least one scope, each once',
      field: 'scopes',
    }
  if (expiresAt !== null && !(Number.isSafeInteger(expiresAt) && expiresAt > now))
    return {
      status: 422,
      code: 'expiry_invalid',
      message: 'expiresAt must be a time to come, in milliseconds since 1970, or null',
      field: 'expiresAt',
    }
  return undefined
}

/** Makes what concerns personal access tokens. */
export const createTokens = ({
  storage,
  now,
}: AccountParts): Pick<
  Accounts,
  'authenticateToken' | 'createAccessToken' | 'listAccessTokens' | 'removeAccessToken'
> => ({
  authenticateToken: async (text) => {
    if (!isSecretText('accessToken', text)) return undefined
    const token = await storage.accessTokens.find(hashSecret(text))
    const at = now()
    if (token === undefined || (token.expiresAt !== null && token.expiresAt <= at)) return undefined
    const user = await storage.users.find(token.userId)
    if (user?.state !== 'active') return undefined
    if (token.seenAt === null || at - token.seenAt >= touchEveryMs) await storage.accessTokens.touch(token.id, at)
    return { user: toAccount(user), scopes: token.scopes, tokenId: token.id }
  },

  createAccessToken: async ({ viewer, label, scopes, expiresAt, ip }) => {
    // A token that leaked must not make others that outlive it.
    const { session } = viewer
    if (session === undefined) return reject.needsSession()
    const at = now()
    const fault = findFault({ label, scopes, expiresAt, now: at })
    if (fault !== undefined) return fault
    const text = createSecretText('accessToken')
    const userId = viewer.user.id
    const made = await storage.transaction(async (within) => {
      // Held first: a session that a new password has ended meanwhile makes none that would outlive it.
      if ((await within.users.findForUpdate(userId)) === undefined) return 'notFound'
      if ((await within.sessions.find(session.hash)) === undefined) return 'ended'
      const accessToken = await within.accessTokens.create({
        userId,
        hash: hashSecret(text),
        scopes,
        label: label.trim(),
        expiresAt,
        max: maxTokens,
        now: at,
      })
      if (accessToken === 'notFound' || accessToken === 'tokensFull') return accessToken
      await audit(within, {
        at,
        userId,
        actor: userId,
        action: 'token.create',
        subject: accessToken.id,
        ip,
        detail: { scopes, expiresAt },
      })
      return accessToken
    })
    if (made === 'notFound') return reject.gone()
    if (made === 'ended') return reject.needsSession()
    if (made === 'tokensFull')
      return {
        status: 409,
        code: 'tokens_full',
        message: `an account has at most ${maxTokens} access tokens: remove one first`,
      }
    return { accessToken: made, text }
  },

  listAccessTokens: ({ user }) => storage.accessTokens.list(user.id),

  removeAccessToken: ({ viewer, id, ip }) =>
    storage.transaction(async (within) => {
      const userId = viewer.user.id
      const removed = await within.accessTokens.remove({ id, userId })
      if (removed)
        await audit(within, {
          at: now(),
          userId,
          actor: viewer.tokenId ?? userId,
          action: 'token.remove',
          subject: id,
          ip,
        })
      return removed
    }),
})
