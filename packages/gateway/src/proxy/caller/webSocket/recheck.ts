import { rejectKey } from '../../../auth/key/rejectKey.ts'
import type { Rejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import { getRequestPath } from '../../http/getRequestPath.ts'
import { authorize, getKeyCredential } from '../../request/authorize.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { AuthorizedRequest, RequestContext } from '../../request/requestContext.ts'
import { createFacts } from '../../request/startRequest.ts'
import { closeConnection } from './closeConnection.ts'
import { closeCodes } from './closeReasons.ts'
import type { SocketConnection } from './socketConnection.ts'

/**
 * Checks an open connection as if its caller connected now, and closes it if the caller may not. Nearly always the key store has the same record as
 * before, and then only the key's expiry can make a difference.
 */
export const recheck = (gateway: GatewayContext, connection: SocketConnection): void => {
  const { context } = connection.authorized
  if (connection.checkedWith === gateway && isUnchanged(gateway, connection)) return
  connection.checkedWith = gateway
  const path = getRequestPath(gateway.names, context.caller)
  if (path.kind !== 'call' || path.network !== connection.path.network) {
    closeRejected(connection, rejections.notFound())
    return
  }
  const again: RequestContext = { ...context, facts: createFacts() }
  authorize(gateway, again, path, (result) => {
    if ('reason' in result) closeRejected(connection, result)
    else reauthorize(connection, result)
  })
}

/** Uses the result of a later check of the same caller. */
const reauthorize = (connection: SocketConnection, authorized: AuthorizedRequest): void => {
  const before = connection.authorized.tenant.record.allow
  connection.authorized = authorized
  const { tenant, tokenAllowList } = authorized
  const { allow } = tenant.record
  if (allow === before) return
  connection.subscriber.review((params) => {
    const subscribe = { method: 'eth_subscribe', params }
    return allow?.rejectCall(subscribe) ?? tokenAllowList?.rejectCall(subscribe)
  })
}

/** Whether the key's record is the same object, and valid. A token has an expiry of its own. */
const isUnchanged = (gateway: GatewayContext, { authorized, path }: SocketConnection): boolean => {
  const { tenant, context } = authorized
  const credential = getKeyCredential(path)
  const hasToken = tenant.record.jwt !== undefined && context.caller.headers.authorization !== undefined
  if (credential === undefined || hasToken) return false
  try {
    const found = gateway.auth.keys.find(credential.text)
    // If it fails, the full check reports that.
    if (found instanceof Promise) found.catch(() => {})
    return found === tenant.record && rejectKey(tenant.record, path, gateway.now()) === undefined
  } catch {
    return false
  }
}

const closeRejected = (connection: SocketConnection, { reason }: Rejection): void =>
  closeConnection(connection, reason === 'key_store_unavailable' ? closeCodes.tryLater : closeCodes.policy, reason)
