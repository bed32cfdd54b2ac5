import { isKeyrailError } from '@keyrail/core'
import type { KeyrailError } from '@keyrail/core'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'

/** What happened, and how to fix it. */
export interface FailureExplanation {
  readonly text: string
  readonly fix: string
  readonly kind: string
  /** The reason of a rejection by a Keyrail service. */
  readonly reason: string | undefined
}

/** How to fix a rejection by a Keyrail service, by its reason. */
const fixesByReason: Readonly<Record<string, string>> = {
  not_found:
    'use --base-url up to the network for an app, as https://node.example/testnet, or --rpc-url for an API key; keyrail networks lists the networks',
  key_unknown: 'copy the key from the dashboard again: the service does not know this one',
  key_unknown_limited: 'wait a minute, then copy the key from the dashboard again',
  key_revoked: 'create another key in the dashboard, or with keyrail keys create',
  key_expired: 'rotate the key with a later expiry: keyrail keys rotate --expires',
  key_disabled: 'contact the operator of the service',
  key_wrong_path: 'use --base-url with an app key, and --rpc-url with an API key',
  wrong_network: 'use the key of this network, or select the network of this key with --network',
  service_off: 'enable the Node API in the settings of the app',
  ip_not_allowed: "add the IP address of this machine to the app's allow list",
  origin_not_allowed: "add the origin of the page to the app's allow list",
  user_agent_not_allowed: "add the user agent to the app's allow list",
  method_not_allowed: "add the method to the app's allow list",
  address_not_allowed: "add the contract or account to the app's allow list",
  jwt_invalid: 'use another app, or turn off JWTs for this one: this command does not send any',
  rate_limited: 'try again in a moment, or raise the rate limit of the key',
  no_upstream: 'try again shortly, or contact the operator of the service: no node of this network is healthy',
  quota_exceeded: 'wait for the reset, or raise the quota of the key',
}

/** How to fix a failure of any service, by its kind. */
const fixesByKind: Readonly<Record<string, string>> = {
  auth: 'copy the key from your provider again, and check that it belongs to this endpoint',
  forbidden: "check the key's settings: its allow lists and its plan",
  throttled: 'try again in a moment, or raise the rate limit of the key',
  quota: 'wait for the reset, or raise the quota of the key',
  wrongNetwork: 'use the key of this network, or the network of this key',
  methodUnavailable: 'ask your provider to enable the method, or use another endpoint',
  badResponse: 'check that the URL is a JSON-RPC endpoint, and that no proxy or login page intercepts it',
  unavailable: 'try again shortly, or contact the operator',
  network: 'check the URL, the network and any proxy',
  timeout: 'try again, or raise --timeout',
  invalidRequest: 'check that the path of the URL is a JSON-RPC endpoint',
}

const contactOperator = 'contact the operator of the endpoint'

/** Gets the server's own message first. The URL and the method are already known. */
function getText({ kind, message, hint, status, rpcError }: KeyrailError): string {
  if (rpcError !== undefined) {
    const http = status === undefined || status === 200 ? '' : `HTTP ${status}, `
    return `${kind}: ${rpcError.message} (${http}code ${rpcError.code})`
  }
  const own = hint === undefined || !message.endsWith(hint) ? message : message.slice(0, -hint.length)
  return own.trimEnd().replace(/[.]$/, '')
}

/** Explains a failure. The texts contain no key, because errors never do. */
export function explainFailure(error: unknown): FailureExplanation {
  if (!isKeyrailError(error)) {
    const name = error instanceof Error ? error.name : 'unknown'
    return { text: `the call failed (${name})`, fix: contactOperator, kind: 'unknown', reason: undefined }
  }
  const { kind, hint, rpcError } = error
  const data = rpcError?.data as { readonly reason?: unknown } | null | undefined
  const given = typeof data === 'object' ? data?.reason : undefined
  const reason = typeof given === 'string' && Object.hasOwn(fixesByReason, given) ? given : undefined
  return {
    text: stripControlCharacters(getText(error)),
    fix: (reason === undefined ? undefined : fixesByReason[reason]) ?? fixesByKind[kind] ?? hint ?? contactOperator,
    kind,
    reason,
  }
}
