import { Secret, TOTP } from 'otpauth'

/** How long each code is shown, in milliseconds. */
export const stepMs = 30_000

/**
 * The code that an authenticator app shows.
 * @param secret - In base32.
 * @param timestamp - In milliseconds since 1970.
 */
export const getAppCode = (secret: string, timestamp: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
