import { rejectKey } from '../../../auth/key/rejectKey.ts'
import type { Rejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import { getRequestPath } from '../../http/getRequestPath.ts'
import { authorize, getKeyCredential } from '../../request/authorize.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { RequestContext } from '../../request/requestContext.ts'
import { createFacts } from '../../request/startRequest.ts'
import { closeCodes } from './closeReasons.ts'
import type { SocketConnection } from './socketConnection.ts'

/** The context with which each connection was checked last. */
const checkedWith = new WeakMap<SocketConnection, GatewayContext>()

/**
 * Checks an open connection as if its caller connected now, and closes it if the caller may not. Nearly always the key store has the same record as
 * before, and then only the key's expiry can make a difference.
 */
export const recheck = (gateway: GatewayContext, connection: SocketConnection): void => {
  const { context } = connection.authorized()
  const isSameGateway = checkedWith.get(connection) === gateway
  if (isSameGateway && isUnchanged(gateway, connection)) return
  checkedWith.set(connection, gateway)
  const path = getRequestPath(gateway.names, context.caller)
  if (path.kind !== 'call' || path.network !== connection.network) {
    closeRejected(connection, rejections.notFound())
    return
  }
  const again: RequestContext = { ...context, facts: createFacts() }
  authorize(gateway, again, path, (result) => {
    if ('reason' in result) closeRejected(connection, result)
    else connection.reauthorize(result)
  })
}

/** Whether the key's record is the same object, and valid. A token has an expiry of its own. */
const isUnchanged = (gateway: GatewayContext, { authorized, path }: SocketConnection): boolean => {
  const { tenant, context } = authorized()
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
  connection.close(reason === 'key_store_unavailable' ? closeCodes.tryLater : closeCodes.policy, reason)
