import { openKey } from '../../lib/secrets/sealKey.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import type { Factor } from '../../storage/factors.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import { auditOwn } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { sendFactorEmail } from './accountEmails.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import { auditFailedLogIn } from './auditFailedLogIn.ts'
import { createAssertionOptions, verifyAssertion } from './passkeys.ts'
import { hashRecoveryCode } from './recoveryCodes.ts'
import type { FactorOrigin } from './accounts.ts'
import type { FactorOptions, FactorProof, PasskeyResponse } from './factorProof.ts'
import { createSignedToken, readSignedToken } from './signedToken.ts'
import { findTotpStep, isTotpCode } from './totp.ts'

/** How long a challenge works, in milliseconds. */
export const challengeMs: number = 10 * 60_000

/**
 * Creates what the browser needs to prove a factor.
 * @param options.userId - Left out for a log-in with a passkey alone.
 * @param options.binding - What the response is bound to.
 */
export const createFactorOptions = async (
  { secrets, storage, now }: ThrottledContext,
  { userId, binding, site }: { userId?: string; binding: string; site: string },
): Promise<FactorOptions> => {
  const factors = userId === undefined ? undefined : await storage.factors.list(userId)
  const challenge = createSignedToken(
    { purpose: 'passkeyResponse', binding: [binding] },
    { secrets, expiresAt: now() + challengeMs },
  )
  return {
    kinds: [...new Set(factors?.map(({ kind }) => kind) ?? ['passkey' as const])],
    passkey: await createAssertionOptions(challenge, { factors, site }),
  }
}

/** Uses a passkey's response once. `'cloned'`: it is valid, but another device has used the same passkey since. */
export const usePasskey = async (
  { secrets, now }: ThrottledContext,
  within: Repositories,
  {
    response,
    factor,
    binding,
    site,
    mustVerifyUser = false,
  }: { response: PasskeyResponse; factor: Factor; binding: string; site: string; mustVerifyUser?: boolean },
): Promise<'right' | 'wrong' | 'cloned'> => {
  const scope = { purpose: 'passkeyResponse' as const, binding: [binding] }
  const findChallenge = (token: string) => readSignedToken(token, scope, { secrets, now: now() })
  const verified = await verifyAssertion(response, { factor, site, findChallenge, mustVerifyUser })
  if (verified === undefined || !(await within.identities.useToken(verified.challenge))) return 'wrong'
  return (await within.factors.use({ id: factor.id, counter: verified.value, now: now() })) ? 'right' : 'cloned'
}

/** A try of a code. */
interface Try {
  /** How long to wait before the next try; 0 if this one is allowed. */
  readonly waitMs: number
  /** Call it if the code was right. */
  readonly undo: () => void
  /** Whether no further wrong code is allowed now. */
  readonly isLast: () => boolean
}

/**
 * Counts a try of a code, before the result is known. Passkeys and recovery codes cannot be guessed.
 *
 * All addresses of a user share one allowance, so many addresses get no more tries than one. An address where the user has an open session has its
 * own: tries from other addresses cannot lock the user out there.
 */
const takeTry = async (
  { codeTries, codeTriesAtAddress }: ThrottledContext,
  within: Repositories,
  { userId, ip }: { userId: string; ip: string },
): Promise<Try> => {
  const block = toIpBlock(ip)
  const pair = `${userId} ${block}`
  const sessions = await within.sessions.list(userId)
  const isKnown = sessions.some(
    ({ factorAt, ip: own }) => factorAt !== null && own !== null && toIpBlock(own) === block,
  )
  const key = isKnown ? pair : userId
  const waitMs = Math.max(codeTries.waitMs(key), codeTriesAtAddress.waitMs(pair))
  const undos = waitMs > 0 ? [] : [codeTries.record(key), codeTriesAtAddress.record(pair)]
  return { waitMs, undo: () => undos.forEach((undo) => undo()), isLast: () => codeTries.waitMs(key) > 0 }
}

/** Finds the app whose current code this is, and uses the code up. */
const useCode = async (
  { secrets, now }: ThrottledContext,
  within: Repositories,
  { userId, code }: { userId: string; code: string },
): Promise<'right' | 'wrong' | 'unreadable'> => {
  let isUnreadable = false
  for (const { id, sealed } of await within.factors.list(userId)) {
    if (sealed === null) continue
    let secret: string
    try {
      secret = openKey(sealed, { id, userId }, secrets)
    } catch {
      isUnreadable = true
      continue
    }
    const counter = findTotpStep(secret, code, now())
    if (counter !== undefined && (await within.factors.use({ id, counter, now: now() }))) return 'right'
  }
  return isUnreadable ? 'unreadable' : 'wrong'
}

const useRecoveryCode = async (
  context: ThrottledContext,
  within: Repositories,
  { user, code, ip }: { user: User; code: string; ip: string },
): Promise<'right' | 'wrong'> => {
  if (!(await within.factors.useRecoveryCode({ userId: user.id, hash: hashRecoveryCode(code) }))) return 'wrong'
  const left = await within.factors.countRecoveryCodes(user.id)
  await auditOwn(within, user.id, { at: context.now(), action: 'factor.useRecoveryCode', ip, detail: { left } })
  sendFactorEmail(context, user.email, `A recovery code was used. ${left} are left.`)
  return 'right'
}

/** Emails a user, once a day, that no more wrong codes are allowed now. */
const warnOfGuesses = (context: ThrottledContext, { id, email }: User): void => {
  if (context.codeWarnings.waitMs(id) > 0) return
  context.codeWarnings.record(id)
  const what = 'There were too many wrong codes, in log-ins whose first step was right, or in an open session.'
  sendFactorEmail(context, email, what)
}

/**
 * Proves a second factor of a user.
 * @param within - A transaction that has locked the user.
 * @param request.binding - What the response of a passkey must be bound to.
 * @returns The kind of factor for the audit log. Each failure has the same error, except a cloned passkey.
 */
export const proveFactor = async (
  context: ThrottledContext,
  within: Repositories,
  request: FactorOrigin & { user: User; proof: FactorProof; binding: string },
): Promise<{ readonly kind: string } | AccountError> => {
  const { user, proof, binding, site, ip } = request
  const fail = async (why: string, error = accountErrors.wrongFactor()): Promise<AccountError> => {
    await auditFailedLogIn(context, { userId: user.id, ip, action: 'account.factorFailed', detail: { why } }, within)
    return error
  }
  if (proof.passkey !== undefined) {
    const factor = await within.factors.findPasskey(proof.passkey.id)
    if (factor === undefined || factor.userId !== user.id) return fail('unknownPasskey')
    const result = await usePasskey(context, within, { response: proof.passkey, factor, binding, site })
    if (result === 'cloned') return fail('clonedPasskey', accountErrors.clonedPasskey())
    return result === 'right' ? { kind: 'passkey' } : fail('wrongPasskey')
  }
  const code = (proof.code ?? '').replaceAll(/[\s-]/g, '')
  if (!isTotpCode(code)) {
    const result = await useRecoveryCode(context, within, { user, code, ip })
    return result === 'right' ? { kind: 'recoveryCode' } : fail('wrongRecoveryCode')
  }
  const attempt = await takeTry(context, within, { userId: user.id, ip })
  if (attempt.waitMs > 0) return accountErrors.tooManyCodes(attempt.waitMs)
  const result = await useCode(context, within, { userId: user.id, code })
  if (result !== 'right') {
    if (attempt.isLast()) warnOfGuesses(context, user)
    return fail(`${result}Code`)
  }
  attempt.undo()
  return { kind: 'totp' }
}
