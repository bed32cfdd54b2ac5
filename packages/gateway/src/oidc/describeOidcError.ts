import type { OidcFailureKind } from './oidcClient.ts'

const getMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined

/** The HTTP status of the provider's response: of the error, or of the response that is its cause. */
const getStatus = (error: unknown): number | undefined => {
  const status = getMember(error, 'status') ?? getMember(getMember(error, 'cause'), 'status')
  return typeof status === 'number' ? status : undefined
}

/** Describes why a log-in failed, without anything that could be a code, a token or a text of the provider. */
export const describeOidcError = (error: unknown): string => {
  const status = getStatus(error)
  // `error`: the error code of OAuth. A provider could put anything there.
  const codes = [getMember(error, 'error'), getMember(error, 'code'), getMember(getMember(error, 'cause'), 'code')]
  const known = [
    ...codes.filter((code): code is string => typeof code === 'string' && /^[A-Za-z_]{1,50}$/.test(code)),
    ...(status === undefined ? [] : [`HTTP ${status}`]),
  ]
  return [...new Set(known)].join(' ') || (error instanceof Error ? error.name : 'unknown')
}

/** OAuth error codes of a provider that is overloaded or has a fault. */
const providerFaults: readonly unknown[] = ['server_error', 'temporarily_unavailable']
/** Those after which the user, or a rule of the provider, has declined. */
const declined: readonly unknown[] = ['access_denied', 'login_required', 'interaction_required', 'consent_required']

/** @param error - As `openid-client` throws it. */
export const getFailureKind = (error: unknown): OidcFailureKind => {
  const oauthError = getMember(error, 'error')
  if (declined.includes(oauthError)) return 'denied'
  const code = getMember(error, 'code')
  const isSilent =
    code === 'OAUTH_TIMEOUT' ||
    code === 'OAUTH_ABORT' ||
    // A failed connection is a TypeError of `fetch`, and its cause has the code.
    (error instanceof TypeError && getMember(error.cause, 'code') !== undefined)
  const isFaulty = providerFaults.includes(oauthError) || (getStatus(error) ?? 0) >= 500
  return isSilent || isFaulty ? 'unavailable' : 'failed'
}
