import { z } from 'zod'
import { nameText, secretText, timeText } from './texts.ts'

const base64UrlText = z.string().regex(/^[\w-]{1,20000}$/, { error: 'must be base64url, of at most 20000 characters' })

const passwordText = secretText
  .exactOptional()
  .describe('Required from an account without a second factor if the session is older than 15 minutes.')

const passkeyOptions = z.record(z.string(), z.unknown())

export const factorView = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['totp', 'passkey']).describe('`totp`: an authenticator app.'),
    label: z.string(),
    createdAt: timeText,
    usedAt: timeText.nullable().describe('When it was last used; `null`: never.'),
  })
  .meta({ id: 'Factor', description: 'A second factor, without its secrets.' })

export const factorsView = z
  .strictObject({
    items: z.array(factorView),
    recoveryCodes: z.int().describe('How many recovery codes are unused.'),
  })
  .describe('The second factors of the account.')

export const passkeyResponse = z
  .strictObject({
    id: base64UrlText,
    clientDataJSON: base64UrlText,
    authenticatorData: base64UrlText,
    signature: base64UrlText,
    userHandle: base64UrlText.exactOptional().describe('Required to log in with a passkey alone.'),
  })
  .meta({
    id: 'PasskeyResponse',
    description: 'The response of `navigator.credentials.get`, with members in base64url.',
  })

export const factorProofBody = z
  .strictObject({
    code: secretText.exactOptional().describe('A code of an authenticator app, or a recovery code.'),
    passkey: passkeyResponse.exactOptional(),
  })
  .refine(({ code, passkey }) => (code === undefined) !== (passkey === undefined), {
    error: 'must have either code or passkey',
  })
  .describe('Proves a second factor: with `code` or with `passkey`.')

export const passkeyLogInBody = z.strictObject({ passkey: passkeyResponse }).describe('Logs in with a passkey.')

export const factorOptionsView = z
  .strictObject({
    kinds: z.array(factorView.shape.kind).describe('The kinds of second factors that the account has.'),
    passkey: passkeyOptions
      .nullable()
      .describe(
        'Pass it to `navigator.credentials.get` as `PublicKeyCredentialRequestOptionsJSON`; `null`: the account has no passkey.',
      ),
  })
  .describe('How a second factor can be proved.')

export const newFactorOptionsView = z
  .strictObject({
    totp: z.strictObject({
      setup: z.string().describe('The secret, signed for the session. Send it back with a code.'),
      secret: z.string().describe('In base32, to type it into an app. A secret.'),
      url: z.string().describe('For a QR code. A secret.'),
    }),
    passkey: passkeyOptions.describe(
      'Pass it to `navigator.credentials.create` as `PublicKeyCredentialCreationOptionsJSON`.',
    ),
  })
  .describe('What is needed to add a second factor.')

export const confirmFactorBody = z
  .strictObject({ password: passwordText })
  .describe('Confirms a change of second factors.')

export const addFactorBody = z
  .strictObject({
    label: nameText,
    totp: z
      .strictObject({ setup: secretText, code: secretText.describe('The current code of the app.') })
      .exactOptional(),
    passkey: z
      .strictObject({
        id: base64UrlText,
        clientDataJSON: base64UrlText,
        attestationObject: base64UrlText,
        transports: z.array(z.string().regex(/^[a-z-]{1,20}$/, { error: 'must be a transport such as usb' })).max(10),
      })
      .exactOptional()
      .describe('The response of `navigator.credentials.create`, with members in base64url.'),
    password: passwordText,
  })
  .refine(({ totp, passkey }) => (totp === undefined) !== (passkey === undefined), {
    error: 'must have either totp or passkey',
  })
  .describe('Adds a second factor: with `totp` or with `passkey`.')

export const recoveryCodesView = z
  .strictObject({
    recoveryCodes: z.array(z.string()).describe('Each works once, in place of a second factor. Secrets.'),
  })
  .describe('New recovery codes.')

export const newFactorView = z
  .strictObject({
    factor: factorView,
    recoveryCodes: recoveryCodesView.shape.recoveryCodes
      .nullable()
      .describe('Ten secrets, each of which works once in place of a second factor; `null`: the account has some.'),
  })
  .describe('A new second factor.')
