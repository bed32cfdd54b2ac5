/** Where the user can fix a rejection. */
export type AdvicePage = 'allowList' | 'jwtKeys' | 'networks' | 'settings' | 'limits'

/** How to fix a rejected call. */
export interface Advice {
  readonly text: string
  readonly page?: AdvicePage
}

const notAllowed: Advice = { text: 'The allow list does not include this call.', page: 'allowList' }
const wrongKey: Advice = { text: 'The key was rotated, revoked or copied incompletely. Use the current key.' }
const noNode: Advice = { text: 'Try again. If it fails again, contact the operator of this service.' }

const adviceByReason: Readonly<Record<string, Advice>> = {
  reverted: {
    text: 'The contract decided that: the service and its nodes worked. Decode a custom error with the contract’s ABI.',
  },
  ip_not_allowed: { text: 'The allow list has IP addresses, and the caller’s is not one of them.', page: 'allowList' },
  user_agent_not_allowed: {
    text: 'The allow list has user agents, and the caller’s is not one of them.',
    page: 'allowList',
  },
  method_not_allowed: notAllowed,
  address_not_allowed: notAllowed,
  jwt_invalid: {
    text: 'Each request needs a token that one of the app’s JWT keys has signed. You can test tokens there.',
    page: 'jwtKeys',
  },
  key_unknown: wrongKey,
  key_unknown_limited: wrongKey,
  key_revoked: wrongKey,
  key_disabled: wrongKey,
  key_expired: { text: 'Set a later expiry date, or rotate the key.', page: 'settings' },
  wrong_network: { text: 'Enable the network.', page: 'networks' },
  service_off: { text: 'Turn the service on.', page: 'settings' },
  rate_limited: { text: 'Send fewer requests a second, or set a higher limit.', page: 'limits' },
  quota_exceeded: { text: 'Wait until the quota resets, or ask the operator for a higher one.', page: 'limits' },
  key_store_unavailable: noNode,
  no_upstream: noNode,
  upstream_busy: noNode,
  upstream_timeout: noNode,
  upstream_bad: noNode,
  draining: noNode,
}

/**
 * Gets how to fix a rejection.
 * @param reason - The reason of the rejection, or `reverted`; `undefined` if the node responded with another error.
 * @param origin - The origin of the request, as a subject of a sentence.
 */
export function getAdvice(reason: string | undefined, origin: string): Advice | undefined {
  if (reason === 'origin_not_allowed') {
    return {
      text: `The allow list has origins, and ${origin} is not one of them. Call from an origin on the list, or add this one.`,
      page: 'allowList',
    }
  }
  return reason === undefined ? undefined : adviceByReason[reason]
}
