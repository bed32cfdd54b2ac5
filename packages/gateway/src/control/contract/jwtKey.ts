import { z } from 'zod'
import { labelText, secretText, timeText } from './texts.ts'

/** A public key that verifies an app's JWTs. */
export interface JwtKeyView {
  /** The `kid` that a JWT's header must contain. */
  readonly kid: string
  /** The signature algorithms that the key can verify. */
  readonly algorithms: readonly string[]
  /** The SHA-256 of the key's DER encoding, in base64. */
  readonly fingerprint: string
  readonly publicPem: string
  readonly label: string
  readonly createdAt: string
}

/** An app's JWT keys, oldest first. */
export interface JwtKeysView {
  readonly items: readonly JwtKeyView[]
  readonly max: number
}

/** Imports a public key. */
export interface AddJwtKeyBody {
  /** PEM, starting with `-----BEGIN PUBLIC KEY-----`. A private key is rejected. */
  readonly pem: string
  /** Up to 64 characters. @default '' */
  readonly label?: string
}

/** Tests a JWT. */
export interface TestJwtBody {
  readonly token: string
}

/** The verification result of a JWT. */
export type JwtTestView =
  | {
      readonly ok: true
      readonly kid: string
      /** When the JWT expires. */
      readonly expiresAt: string
      /** Whether its claims allow less than the app's allow list. */
      readonly narrows: boolean
    }
  | {
      readonly ok: false
      /** The first failed check, such as `signature` or `expiry`. */
      readonly check: string
      readonly message: string
    }

/** The schema of `JwtKeyView`. */
export const jwtKeyView: z.ZodType<JwtKeyView> = z
  .strictObject({
    kid: z.string(),
    algorithms: z.array(z.string()),
    fingerprint: z.string(),
    publicPem: z.string(),
    label: z.string(),
    createdAt: timeText,
  })
  .meta({ id: 'JwtKey' })

/** The schema of `JwtKeysView`. */
export const jwtKeysView: z.ZodType<JwtKeysView> = z.strictObject({ items: z.array(jwtKeyView), max: z.int() })

/** The schema of `AddJwtKeyBody`. */
export const addJwtKeyBody: z.ZodType<AddJwtKeyBody, AddJwtKeyBody> = z.strictObject({
  pem: secretText,
  label: labelText.exactOptional(),
})

/** The schema of `TestJwtBody`. */
export const testJwtBody: z.ZodType<TestJwtBody, TestJwtBody> = z.strictObject({ token: secretText })

/** The schema of `JwtTestView`. */
export const jwtTestView: z.ZodType<JwtTestView> = z
  .discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), kid: z.string(), expiresAt: timeText, narrows: z.boolean() }),
    z.strictObject({ ok: z.literal(false), check: z.string(), message: z.string() }),
  ])
  .meta({ id: 'JwtTest' })
