import { openKey } from '../../lib/secrets/sealKey.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import type { Factor } from '../../storage/factors.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import { auditOwn } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { accountEmails } from './accountEmails.ts'
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

/** Creates what the browser needs to prove a factor of a user. @param binding - What the response is bound to. */
export const createFactorOptions = async (
  { secrets, storage, now }: ThrottledContext,
  { userId, binding, site }: { userId: string; binding: string; site: string },
): Promise<FactorOptions> => {
  const factors = await storage.factors.list(userId)
  const challenge = createSignedToken(
    { purpose: 'passkeyResponse', binding: [binding] },
    { secrets, expiresAt: now() + challengeMs },
  )
  return {
    kinds: [...new Set(factors.map(({ kind }) => kind))],
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

/** Counts a try of a code, before the result is known. Passkeys and recovery codes cannot be guessed. */
const takeTry = (
  { codeTries, codeTriesAtAddress }: ThrottledContext,
  { userId, ip }: { userId: string; ip: string },
): { readonly waitMs: number; readonly undo: () => void } => {
  const pair = `${userId} ${toIpBlock(ip)}`
  const waitMs = Math.max(codeTries.waitMs(userId), codeTriesAtAddress.waitMs(pair))
  if (waitMs > 0) return { waitMs, undo: () => {} }
  const undos = [codeTries.record(userId), codeTriesAtAddress.record(pair)]
  return {
    waitMs,
    undo: () => {
      for (const undo of undos) undo()
    },
  }
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
  { mailer, now }: ThrottledContext,
  within: Repositories,
  { user, code, ip }: { user: User; code: string; ip: string },
): Promise<'right' | 'wrong'> => {
  if (!(await within.factors.useRecoveryCode({ userId: user.id, hash: hashRecoveryCode(code) }))) return 'wrong'
  const left = await within.factors.countRecoveryCodes(user.id)
  await auditOwn(within, user.id, { at: now(), action: 'factor.useRecoveryCode', ip, detail: { left } })
  const { email: to } = user
  mailer.enqueue('secondFactor', async () =>
    accountEmails.secondFactor({ to, siteUrl: mailer.siteUrl() }, `A recovery code was used. ${left} are left.`),
  )
  return 'right'
}

/** Emails a user, once a day, that no more wrong codes are allowed now. */
const warnOfGuesses = ({ codeTries, codeWarnings, mailer }: ThrottledContext, { id, email: to }: User): void => {
  if (codeTries.waitMs(id) === 0 || codeWarnings.waitMs(id) > 0) return
  codeWarnings.record(id)
  mailer.enqueue('secondFactor', async () =>
    accountEmails.secondFactor(
      { to, siteUrl: mailer.siteUrl() },
      'There were too many wrong codes, in log-ins whose first step was right, or in an open session.',
    ),
  )
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
  const attempt = takeTry(context, { userId: user.id, ip })
  if (attempt.waitMs > 0) return accountErrors.tooManyCodes(attempt.waitMs)
  const result = await useCode(context, within, { userId: user.id, code })
  if (result !== 'right') {
    warnOfGuesses(context, user)
    return fail(`${result}Code`)
  }
  attempt.undo()
  return { kind: 'totp' }
}
