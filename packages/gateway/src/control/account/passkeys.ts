import type { Factor } from '../../storage/factors.ts'
import type { User } from '../../storage/users.ts'
import type { NewPasskey, PasskeyOptions, PasskeyResponse } from './factorProof.ts'
import type { ValidToken } from './signedToken.ts'

// Imported when they are needed: most processes never verify a passkey.
const load = () => import('@simplewebauthn/server')

/** EdDSA and ES256, in the order of preference. */
const algorithms = [-8, -7]
const timeout = 5 * 60_000

/** What a response must be for. */
interface Expected {
  /** The origin of the dashboard. */
  readonly site: string
  /** Finds the token of a challenge that this service has created for the request. */
  readonly findChallenge: (token: string) => ValidToken | undefined
}

/** A response that is valid. */
interface Verified<Value> {
  readonly value: Value
  /** Use it up: a response works once. */
  readonly challenge: ValidToken
}

const toPasskeys = (factors: readonly Factor[]) =>
  factors.flatMap(({ credentialId: id, transports }) =>
    id === null ? [] : [{ id, transports: transports as ('usb' | 'internal')[] }],
  )

/** Creates what `navigator.credentials.create` needs. */
export const createRegistrationOptions = async (
  challenge: string,
  { user, factors, site }: { user: Pick<User, 'id' | 'email'>; factors: readonly Factor[]; site: string },
): Promise<PasskeyOptions> => {
  const { hostname } = new URL(site)
  const { generateRegistrationOptions } = await load()
  const options = await generateRegistrationOptions({
    rpName: hostname,
    rpID: hostname,
    userID: new Uint8Array(Buffer.from(user.id)),
    userName: user.email,
    userDisplayName: user.email,
    challenge,
    timeout,
    excludeCredentials: toPasskeys(factors),
    supportedAlgorithmIDs: algorithms,
  })
  return { ...options }
}

/**
 * Creates what `navigator.credentials.get` needs.
 * @param options.factors - The factors of the user; `undefined` for a log-in with a passkey alone, which must verify the user.
 * @returns `null` for a user who has no passkey.
 */
export const createAssertionOptions = async (
  challenge: string,
  { factors, site }: { factors: readonly Factor[] | undefined; site: string },
): Promise<PasskeyOptions | null> => {
  const allowCredentials = factors && toPasskeys(factors)
  if (allowCredentials?.length === 0) return null
  const { generateAuthenticationOptions } = await load()
  const options = await generateAuthenticationOptions({
    rpID: new URL(site).hostname,
    challenge,
    timeout,
    ...(allowCredentials === undefined ? { userVerification: 'required' as const } : { allowCredentials }),
  })
  return { ...options }
}

/** Verifies a response with the library, which throws for each kind of invalid response. */
const verify = async <Value>(
  { site, findChallenge }: Expected,
  work: (expected: {
    expectedOrigin: string
    expectedRPID: string
    expectedChallenge: (challenge: string) => boolean
  }) => Promise<Value | undefined>,
): Promise<Verified<Value> | undefined> => {
  let found: ValidToken | undefined
  const value = await work({
    expectedOrigin: site,
    expectedRPID: new URL(site).hostname,
    expectedChallenge: (challenge) => {
      found = findChallenge(Buffer.from(challenge, 'base64url').toString())
      return found !== undefined
    },
  }).catch(() => undefined)
  return value === undefined || found === undefined ? undefined : { value, challenge: found }
}

/**
 * Whether an attestation contains no certificates. The options ask for none. To verify them, the library fetches URLs that the client chose.
 */
const hasNoCertificates = async (attestationObject: string): Promise<boolean> => {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
  const format = decoded.get('fmt')
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined)
}

/** Verifies a new passkey. @returns `undefined` if it is not valid. */
export const verifyRegistration = (
  { id, transports, ...response }: NewPasskey,
  expected: Expected,
): Promise<Verified<Pick<Factor, 'credentialId' | 'publicKey' | 'counter' | 'transports'>> | undefined> =>
  verify(expected, async (options) => {
    if (!(await hasNoCertificates(response.attestationObject))) return undefined
    const { verifyRegistrationResponse } = await load()
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
      ...options,
      supportedAlgorithmIDs: algorithms,
      requireUserVerification: false,
    })
    if (registrationInfo === undefined) return undefined
    const { id: credentialId, publicKey, counter } = registrationInfo.credential
    return { credentialId, publicKey, counter, transports }
  })

/**
 * Verifies the response of a passkey, except its counter, which only the database can compare.
 * @param expected.mustVerifyUser - Whether the authenticator must have verified the user, by a PIN or a fingerprint.
 * @returns The new counter; `undefined` if it is not valid.
 */
export const verifyAssertion = (
  { id, clientDataJSON, authenticatorData, signature }: PasskeyResponse,
  { factor: { publicKey }, mustVerifyUser, ...expected }: Expected & { factor: Factor; mustVerifyUser: boolean },
): Promise<Verified<number> | undefined> =>
  verify(expected, async (options) => {
    if (publicKey === null) return undefined
    const { verifyAuthenticationResponse } = await load()
    const response = { clientDataJSON, authenticatorData, signature }
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
      ...options,
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
      requireUserVerification: mustVerifyUser,
    })
    return verified ? authenticationInfo.newCounter : undefined
  })
