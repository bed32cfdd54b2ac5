import { audit, toAccount } from './accountContext.ts'
import type { AccountContext } from './accountContext.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Accounts } from './accounts.ts'
import type { Viewer } from './viewer.ts'
import type { TokenOwner } from '../../storage/accessTokens.ts'
import { teamErrors } from './teamErrors.ts'
import { createSecretText, hashSecret, isSecretText } from './secretText.ts'

const touchEveryMs = 60_000
const maxTokens = 20
const maxLabelLength = 64
const maxScopes = 32
const scopeShape = /^[a-z][a-zA-Z]{0,31}(?::[a-z][a-zA-Z]{0,31})?$/

const findProblem = ({
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
  if (length < 1 || length > maxLabelLength || /[\p{Cc}\p{Cs}]/u.test(label))
    return {
      status: 422,
      code: 'label_invalid',
      message: `The label is not valid. Use 1 to ${maxLabelLength} characters, without control characters.`,
      field: 'label',
    }
  const valid = scopes.length > 0 && scopes.length <= maxScopes && scopes.every((scope) => scopeShape.test(scope))
  if (!valid || new Set(scopes).size !== scopes.length)
    return {
      status: 422,
      code: 'scopes_invalid',
      message: 'The scopes are not valid. Send at least one scope, without duplicates.',
      field: 'scopes',
    }
  if (expiresAt !== null && !(Number.isSafeInteger(expiresAt) && expiresAt > now))
    return {
      status: 422,
      code: 'expiry_invalid',
      message: 'expiresAt is not valid. Send a time in the future, or null for no expiry.',
      field: 'expiresAt',
    }
  return undefined
}

const toOwner = ({ user }: Viewer, accountId: string = user.id): TokenOwner => ({
  userId: accountId,
  memberId: accountId === user.id ? null : user.id,
})

/** Creates the functions for personal access tokens. */
export const createTokens = ({
  storage,
  now,
}: AccountContext): Pick<
  Accounts,
  'authenticateToken' | 'createAccessToken' | 'listAccessTokens' | 'removeAccessToken'
> => ({
  authenticateToken: async (text) => {
    if (!isSecretText('accessToken', text)) return undefined
    const token = await storage.accessTokens.find(hashSecret(text))
    const at = now()
    if (token === undefined || (token.expiresAt !== null && token.expiresAt <= at)) return undefined
    const user = await storage.users.find(token.memberId ?? token.userId)
    if (user?.state !== 'active') return undefined
    if (token.seenAt === null || at - token.seenAt >= touchEveryMs) await storage.accessTokens.touch(token.id, at)
    return { user: toAccount(user), scopes: token.scopes, tokenId: token.id, accountId: token.userId }
  },

  createAccessToken: async ({ viewer, accountId, label, scopes, expiresAt, ip }) => {
    // A leaked token must not be able to create tokens that outlive it.
    const { session } = viewer
    if (session === undefined) return accountErrors.sessionRequired()
    const at = now()
    const problem = findProblem({ label, scopes, expiresAt, now: at })
    if (problem !== undefined) return problem
    const text = createSecretText('accessToken')
    const owner = toOwner(viewer, accountId)
    const { userId, memberId } = owner
    const created = await storage.transaction(async (within) => {
      if (memberId !== null) {
        // Locked, so that no token is created for a member who is removed concurrently.
        await within.teams.lock(userId, 'shared')
        if ((await within.members.find({ accountId: userId, userId: memberId })) === undefined) return 'noMember'
      }
      // Locked first: if a password change ends this session concurrently, no token is created.
      if ((await within.users.findForUpdate(viewer.user.id)) === undefined) return 'notFound'
      if ((await within.sessions.find(session.hash)) === undefined) return 'sessionEnded'
      const accessToken = await within.accessTokens.create({
        ...owner,
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
        actor: viewer.user.id,
        action: 'token.create',
        subject: accessToken.id,
        ip,
        detail: { scopes, expiresAt },
      })
      return accessToken
    })
    if (created === 'notFound') return accountErrors.deleted()
    if (created === 'noMember') return teamErrors.noMember()
    if (created === 'sessionEnded') return accountErrors.sessionRequired()
    if (created === 'tokensFull')
      return {
        status: 409,
        code: 'tokens_full',
        message: `You have ${maxTokens} access tokens for this account, the maximum. Remove one first.`,
      }
    return { accessToken: created, text }
  },

  listAccessTokens: (viewer, accountId) => storage.accessTokens.list(toOwner(viewer, accountId)),

  removeAccessToken: ({ viewer, accountId, id, ip }) =>
    storage.transaction(async (within) => {
      const owner = toOwner(viewer, accountId)
      const removed = await within.accessTokens.remove({ ...owner, id })
      if (removed)
        await audit(within, {
          at: now(),
          userId: owner.userId,
          actor: viewer.tokenId ?? viewer.user.id,
          action: 'token.remove',
          subject: id,
          ip,
        })
      return removed
    }),
})
