import { rejections } from '../../errors/rejections.ts'
import { isConfirmable } from '../method/confirmRule.ts'
import type { CheckedCall } from '../upstream/callResult.ts'
import type { ForwardedCall } from '../upstream/forwardedCall.ts'
import type { NetworkContext } from './networkContext.ts'
import type { RequestContext } from './requestContext.ts'

/** In a request: how many nodes must agree. In a response: how many did. */
export const confirmHeader = 'X-Keyrail-Confirm'

const requestHeader = confirmHeader.toLowerCase()

// Shared, because a short batch can have a thousand calls.
const notEnabled = rejections.invalidRequest(`${confirmHeader} is not enabled for this network`)
const invalid = rejections.invalidRequest(`${confirmHeader} must be a whole number from 2 to 10`)

/** Whether a request asks for confirmation by the header. */
export const hasConfirmHeader = ({ caller }: RequestContext): boolean => caller.headers[requestHeader] !== undefined

/**
 * Applies the header by which a caller asks for more confirmation than the network requires. It never gets less. A header that cannot be respected is
 * an error: a caller that asks for confirmation must not believe a result without it. Calls that nodes cannot agree on stay as they are.
 */
export const confirmByHeader = (
  call: ForwardedCall,
  { caller }: RequestContext,
  network: NetworkContext,
): CheckedCall => {
  if (!network.confirmHeader) return notEnabled
  const value = caller.headers[requestHeader]
  if (typeof value !== 'string' || !/^(?:[2-9]|10)$/.test(value)) return invalid
  const nodes = Number(value)
  const { traits } = call
  if (traits.row === undefined || !isConfirmable(traits.row) || nodes <= (traits.confirm?.nodes ?? 1)) return call
  return { ...call, traits: { ...traits, confirm: { nodes, onDispute: 'error', onFew: 'error' } } }
}
