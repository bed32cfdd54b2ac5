import { isKeyrailError } from '@keyrail/core'
import type { KeyrailError } from '@keyrail/core'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'

/** What happened, and what to do about it. */
export interface FailureDescription {
  readonly text: string
  readonly fix: string
  readonly kind: string
  /** Of a rejection by a Keyrail service: its reason. */
  readonly reason: string | undefined
}

/** What to do about a rejection that a Keyrail service has a reason for. */
const ofReason: Readonly<Record<string, string>> = {
  not_found: 'an app goes by --base-url up to the network, as in https://node.example/testnet; an API key by --rpc-url',
  key_unknown: 'copy the key anew from the dashboard: nobody has this one',
  key_unknown_limited: 'wait a minute; then copy the key anew from the dashboard',
  key_revoked: 'make another key in the dashboard, or by keyrail keys create',
  key_expired: 'rotate the key, with another end: keyrail keys rotate --expires',
  key_disabled: 'ask who runs the service',
  key_wrong_path: "an app's key goes with --base-url, an API key with --rpc-url",
  wrong_network: 'use the key of this network, or the network of this key: --network',
  service_off: 'turn on the service Node API in the settings of the app',
  ip_not_allowed: "add this machine's IP to the app's allow list",
  origin_not_allowed: "add the page's origin to the app's allow list",
  user_agent_not_allowed: "add the user agent to the app's allow list",
  jwt_invalid:
    'this app wants a token with each call, which this command does not send: try another app, or switch that off',
  rate_limited: 'try again in a moment, or raise the limit of the key',
  quota_exceeded: 'wait for the reset, or raise the limit of the key',
}

/** What to do about a failure of any service, by its kind. */
const ofKind: Readonly<Record<string, string>> = {
  auth: 'copy the key anew from where it was made, and look whether it belongs to this address',
  forbidden: "look at the key's settings: its allow lists, and what its plan holds",
  throttled: 'try again in a moment, or raise the limit of the key',
  quota: 'wait for the reset, or raise the limit of the key',
  wrongNetwork: 'use the key of this network, or the network of this key',
  methodUnavailable: 'nothing that uses it will work here: ask for it, or use another endpoint',
  badResponse: 'is it a JSON-RPC address? Look what stands in between: a proxy, a page to log in',
  unavailable: 'try again shortly; if it stays so, ask who runs it',
  network: 'look at the address, the network and the proxy in between',
  timeout: 'try again, or allow more by --timeout',
  invalidRequest: 'look at the address: the path must be the one of JSON-RPC',
}

const askOwner = 'ask who runs the address'

/** What the other side said, in front of what can be counted. The address is known, and which call it was. */
function textOf({ kind, message, hint, status, rpcError }: KeyrailError): string {
  if (rpcError !== undefined) {
    const http = status === undefined || status === 200 ? '' : `HTTP ${status}, `
    return `${kind}: ${rpcError.message} (${http}code ${rpcError.code})`
  }
  const own = hint === undefined || !message.endsWith(hint) ? message : message.slice(0, -hint.length)
  return own.trimEnd().replace(/[.]$/, '')
}

/** Puts a failure in words. They hold no key: a failure never does. */
export function describeFailure(error: unknown): FailureDescription {
  if (!isKeyrailError(error)) {
    const name = error instanceof Error ? error.name : 'unknown'
    return { text: `it failed (${name})`, fix: askOwner, kind: 'unknown', reason: undefined }
  }
  const { kind, hint, rpcError } = error
  const data = rpcError?.data as { readonly reason?: unknown } | null | undefined
  const given = typeof data === 'object' ? data?.reason : undefined
  const reason = typeof given === 'string' && Object.hasOwn(ofReason, given) ? given : undefined
  return {
    text: stripControlCharacters(textOf(error)),
    fix: (reason === undefined ? undefined : ofReason[reason]) ?? ofKind[kind] ?? hint ?? askOwner,
    kind,
    reason,
  }
}
