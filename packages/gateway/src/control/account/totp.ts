import { Secret, TOTP } from 'otpauth'

const secretBytes = 20
/** Codes of the time step before and after are valid too, because clocks differ. */
const window = 1
const stepMs = 30_000

const createTotp = (secret: string, names: { issuer?: string; label?: string } = {}): TOTP =>
  new TOTP({ ...names, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: stepMs / 1_000 })

/** Creates the secret of an authenticator app: 160 random bits in base32. */
export const createTotpSecret = (): string => new Secret({ size: secretBytes }).base32

/** The URL that an authenticator app reads from a QR code. A secret. */
export const toTotpUrl = (secret: string, names: { issuer: string; label: string }): string =>
  createTotp(secret, names).toString()

/** Whether a text has the format of a code. */
export const isTotpCode = (text: string): boolean => /^\d{6}$/.test(text)

/**
 * Finds the time step of a code.
 * @param now - Milliseconds since 1970.
 * @returns `undefined` if the code is wrong.
 * @see RFC 6238 section 4
 */
export const findTotpStep = (secret: string, code: string, now: number): number | undefined => {
  const delta = createTotp(secret).validate({ token: code, timestamp: now, window })
  return delta === null ? undefined : Math.floor(now / stepMs) + delta
}
