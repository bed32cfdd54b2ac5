import type { Factor } from '../../storage/factors.ts'

/** What a browser needs to use or create a passkey, in the JSON form of the Web Authentication standard. */
export type PasskeyOptions = Readonly<Record<string, unknown>>

/** The response of a passkey. Every member is base64url. */
export interface PasskeyResponse {
  readonly id: string
  readonly clientDataJSON: string
  readonly authenticatorData: string
  readonly signature: string
  readonly userHandle?: string
}

/** A new passkey. Every text is base64url, except the transports. */
export interface NewPasskey {
  readonly id: string
  readonly clientDataJSON: string
  readonly attestationObject: string
  readonly transports: readonly string[]
}

/** A proof of a second factor. `code`: of an authenticator app, or a recovery code. */
export interface FactorProof {
  readonly code?: string
  readonly passkey?: PasskeyResponse
}

/** How a user can prove a second factor. */
export interface FactorOptions {
  readonly kinds: readonly Factor['kind'][]
  /** `null`: the user has no passkey. */
  readonly passkey: PasskeyOptions | null
}

/** What is needed to add a factor. */
export interface NewFactorOptions {
  readonly totp: {
    /** The secret, signed for the session. Send it back with a code. */
    readonly setup: string
    /** In base32. */
    readonly secret: string
    /** For a QR code. */
    readonly url: string
  }
  readonly passkey: PasskeyOptions
}
