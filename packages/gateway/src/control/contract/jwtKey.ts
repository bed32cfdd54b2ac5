import { z } from 'zod'
import { labelText, secretText, timeText } from './texts.ts'

/** A public key by which an app's tokens are checked. */
export interface JwtKeyView {
  /** What a token's header must name. */
  readonly kid: string
  /** What it may be signed by. */
  readonly algorithms: readonly string[]
  /** base64 of the SHA-256 of the key's DER. */
  readonly fingerprint: string
  readonly publicPem: string
  readonly label: string
  readonly createdAt: string
}

/** An app's JWT keys, the oldest first. */
export interface JwtKeysView {
  readonly items: readonly JwtKeyView[]
  readonly max: number
}

/** What imports a key. */
export interface AddJwtKeyBody {
  /** From `-----BEGIN PUBLIC KEY-----` to the end. A private key is rejected. */
  readonly pem: string
  /** Up to 64 characters. @default '' */
  readonly label?: string
}

/** A token to be tried. */
export interface TestJwtBody {
  readonly token: string
}

/** What was found of a token. */
export type JwtTestView =
  | {
      readonly ok: true
      readonly kid: string
      /** When the token ends. */
      readonly expiresAt: string
      /** Whether its claims allow less than the app does. */
      readonly narrows: boolean
    }
  | {
      readonly ok: false
      /** The first check that failed, such as `signature` or `expiry`. */
      readonly check: string
      readonly message: string
    }

/** @see JwtKeyView */
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

/** @see JwtKeysView */
export const jwtKeysView: z.ZodType<JwtKeysView> = z.strictObject({ items: z.array(jwtKeyView), max: z.int() })

/** @see AddJwtKeyBody */
export const addJwtKeyBody: z.ZodType<AddJwtKeyBody, AddJwtKeyBody> = z.strictObject({
  pem: secretText,
  label: labelText.exactOptional(),
})

/** @see TestJwtBody */
export const testJwtBody: z.ZodType<TestJwtBody, TestJwtBody> = z.strictObject({ token: secretText })

/** @see JwtTestView */
export const jwtTestView: z.ZodType<JwtTestView> = z
  .discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), kid: z.string(), expiresAt: timeText, narrows: z.boolean() }),
    z.strictObject({ ok: z.literal(false), check: z.string(), message: z.string() }),
  ])
  .meta({ id: 'JwtTest' })
