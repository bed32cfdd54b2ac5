import { z } from 'zod'
import { labelText, secretText, timeText } from './texts.ts'

export const jwtKeyView = z
  .strictObject({
    kid: z.string().describe("The `kid` that a JWT's header must contain."),
    algorithms: z.array(z.string()).describe('The signature algorithms that the key can verify.'),
    fingerprint: z.string().describe("The SHA-256 of the key's DER encoding, in base64."),
    publicPem: z.string(),
    label: z.string(),
    createdAt: timeText,
  })
  .meta({ id: 'JwtKey', description: "A public key that verifies an app's JWTs." })

export const jwtKeysView = z
  .strictObject({ items: z.array(jwtKeyView), max: z.int() })
  .describe("An app's JWT keys, oldest first.")

export const addJwtKeyBody = z
  .strictObject({
    pem: secretText.describe('PEM, starting with `-----BEGIN PUBLIC KEY-----`. A private key is rejected.'),
    label: labelText.exactOptional().describe("Up to 64 characters. @default ''"),
  })
  .describe('Imports a public key.')

export const testJwtBody = z.strictObject({ token: secretText }).describe('Tests a JWT.')

export const jwtTestView = z
  .discriminatedUnion('ok', [
    z.strictObject({
      ok: z.literal(true),
      kid: z.string(),
      expiresAt: timeText.describe('When the JWT expires.'),
      narrows: z.boolean().describe("Whether its claims allow less than the app's allow list."),
    }),
    z.strictObject({
      ok: z.literal(false),
      check: z.string().describe('The first failed check, such as `signature` or `expiry`.'),
      message: z.string(),
    }),
  ])
  .meta({ id: 'JwtTest', description: 'The verification result of a JWT.' })
