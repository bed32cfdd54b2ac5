import type { ControlApi, FactorOptionsView } from '@keyrail/gateway'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { ControlFailure } from './controlFailure.ts'

type Options = FactorOptionsView['passkey']
type PasskeyResponse = ControlApi['POST /api/session/passkey']['body']['passkey']
type NewPasskey = NonNullable<ControlApi['POST /api/account/factors']['body']['passkey']>

// Most visits need none of it.
const load = () => import('@simplewebauthn/browser')

/** Whether this browser has passkeys for this site. They belong to a domain, so there are none for an IP address. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && !/^[\d.]+$|:/.test(location.hostname)

/** Converts an error of the browser, which does not say why on purpose. */
const toFailure = (error: unknown): ControlFailure =>
  new ControlFailure(
    (error as Error).name === 'InvalidStateError'
      ? 'This device already has a passkey for this account.'
      : 'The passkey was not used: you cancelled, or it took too long. Try again.',
    { code: 'passkey_failed', status: 0 },
  )

/**
 * Asks the browser for a passkey.
 * @throws {ControlFailure} if the user cancels.
 */
export async function getPasskey(options: Options): Promise<PasskeyResponse> {
  const { startAuthentication } = await load()
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON
  const { id, response } = await startAuthentication({ optionsJSON }).catch((error: unknown) => {
    throw toFailure(error)
  })
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return { id, clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) }
}

/** The same for a new passkey. */
export async function createPasskey(options: Options): Promise<NewPasskey> {
  const { startRegistration } = await load()
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON
  const { id, response } = await startRegistration({ optionsJSON }).catch((error: unknown) => {
    throw toFailure(error)
  })
  const { clientDataJSON, attestationObject, transports = [] } = response
  return { id, clientDataJSON, attestationObject, transports }
}
