import { describeFault } from '../../../errors/faultLog.ts'
import type { Rejection } from '../../../errors/rejection.ts'
import type { LimitGrant } from '../../../usage/limits/usageLimits.ts'
import { connectionMethod, notificationMethod } from '../../../usage/metering/meter.ts'
import type { MeteredUse } from '../../../usage/metering/meter.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { AuthorizedRequest } from '../../request/requestContext.ts'
import { toLimitRejection } from '../../request/takeLimits.ts'

/** The notifications of one connection. */
export interface NotificationUsage {
  /** Since the connection was opened. */
  total: number
  /** Since they were charged last. */
  uncharged: number
  /** Those of them that cost a unit at least. */
  unchargedReads: number
  /** Found by a charge whose result was not known at once. */
  rejection: Rejection | undefined
}

/** A connection, as its usage sees it. */
interface UsingConnection {
  readonly authorized: AuthorizedRequest
  readonly usage: NotificationUsage
}

/** Creates the usage of a connection. */
export const createNotificationUsage = (): NotificationUsage => ({
  total: 0,
  uncharged: 0,
  unchargedReads: 0,
  rejection: undefined,
})

/** Meters that a connection was opened. */
export const meterOpening = (gateway: GatewayContext, { authorized }: UsingConnection): void =>
  meter(gateway, authorized, connectionMethod, 1)

/** Counts notifications. Cheap: it is called for each delivery. @param minUnits - How many units each costs at least. */
export const addNotifications = (usage: NotificationUsage, notifications: number, minUnits: 0 | 1): void => {
  usage.uncharged += notifications
  usage.unchargedReads += notifications * minUnits
  usage.total += notifications
}

/** Meters what was added, and charges it to the quota if it costs something. @returns Why there may be no more. */
export const chargeNotifications = (
  gateway: GatewayContext,
  { authorized, usage }: UsingConnection,
): Rejection | undefined => {
  const { uncharged, unchargedReads } = usage
  usage.uncharged = 0
  usage.unchargedReads = 0
  if (uncharged > 0) {
    const { notificationWeight } = authorized.network
    const units = uncharged * notificationWeight + (notificationWeight === 0 ? unchargedReads : 0)
    const done = (use?: MeteredUse): void => meter(gateway, authorized, notificationMethod, uncharged, use)
    if (units > 0) take(gateway, { authorized, usage }, units, done)
    else done()
  }
  return usage.rejection
}

const meter = (
  { usage, log }: GatewayContext,
  { tenant, network }: AuthorizedRequest,
  method: string,
  count: number,
  use?: MeteredUse,
): void => {
  if (tenant.testKey !== undefined) return
  try {
    usage.meter?.count(tenant.meteredKey, network.group.network, method, 'succeeded', undefined, count, use)
  } catch (error) {
    log({ event: 'fault', where: 'meter', ...describeFault(error), count: 1 })
  }
}

/** Charges units. @param done - Called with what was charged. */
const take = (
  gateway: GatewayContext,
  { authorized, usage }: UsingConnection,
  units: number,
  done: (use?: MeteredUse) => void,
): void => {
  const { record, quota, testKey } = authorized.tenant
  const { limits } = gateway.usage
  if (testKey !== undefined) return
  if (limits === undefined) {
    done({ units, bytes: 0 })
    return
  }
  const use = (taken: LimitGrant): void => {
    if (taken.granted === 0) usage.rejection = toLimitRejection(taken, { index: 0 }, gateway)
    done(taken.granted === 0 ? undefined : { units, bytes: 0, day: taken.quota?.day })
  }
  const failed = (error: unknown): void => {
    gateway.log({ event: 'fault', where: 'quota', ...describeFault(error), count: 1 })
    done()
  }
  try {
    // One call of many units: it is granted as a whole.
    const taken = limits.take({ id: record.id, rate: undefined, quota, calls: 1, passed: 1, weights: [units] })
    if (taken instanceof Promise) taken.then(use, failed)
    else use(taken)
  } catch (error) {
    failed(error)
  }
}
