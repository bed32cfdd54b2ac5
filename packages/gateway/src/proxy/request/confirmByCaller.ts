import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { isConfirmable } from '../method/confirmRule.ts'
import type { ForwardedCall } from '../upstream/forwardedCall.ts'
import type { AuthorizedRequest } from './requestContext.ts'

/** In a request: how many nodes must agree. In a response: how many did. */
export const confirmHeader = 'X-Keyrail-Confirm'

const requestHeader = confirmHeader.toLowerCase()

// Shared, because a short batch can have a thousand calls.
const notForKey = rejections.invalidRequest(
  `${confirmHeader} is not enabled for this key: its owner can enable it, with "confirmHeader"`,
)
const notEnabled = rejections.invalidRequest(`${confirmHeader} is not enabled for this network`)
const settingNotEnabled = rejections.invalidRequest(
  'this key requires confirmed reads, which are not enabled for this network: its owner can set "confirmNodes" to 0',
)
const invalid = rejections.invalidRequest(`${confirmHeader} must be a whole number from 2 to 10`)

/**
 * Reads how many nodes a request wants to agree, by the setting of its app or API key and by its header. A number that cannot be respected is an error: a
 * caller that asks for confirmation must not believe a result without it.
 * @returns `undefined` if it asks for nothing.
 */
export const readConfirmNodes = ({
  context: { caller },
  tenant: { record },
  network,
}: Pick<AuthorizedRequest, 'context' | 'tenant' | 'network'>): number | Rejection | undefined => {
  const header = caller.headers[requestHeader]
  const { confirmNodes = 0, confirmHeader: mayUseHeader = false } = record.confirm ?? {}
  if (header === undefined && confirmNodes === 0) return undefined
  if (!network.confirmByCallers) return header === undefined ? settingNotEnabled : notEnabled
  if (header === undefined) return confirmNodes
  if (!mayUseHeader) return notForKey
  if (typeof header !== 'string' || !/^(?:[2-9]|10)$/.test(header)) return invalid
  return Math.max(confirmNodes, Number(header))
}

/**
 * Raises how many nodes must agree on a call, and makes it an error if they do not. It never gets less. Calls that nodes cannot agree on stay as they are.
 */
export const confirmByCaller = (call: ForwardedCall, nodes: number): ForwardedCall => {
  const { traits } = call
  if (traits.row === undefined || !isConfirmable(traits.row)) return call
  const least = Math.max(nodes, traits.confirm?.nodes ?? 0)
  return { ...call, traits: { ...traits, confirm: { nodes: least, onDispute: 'error', onFew: 'error' } } }
}
