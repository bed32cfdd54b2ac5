import { describeFault } from '../../../errors/faultLog.ts'
import type { Rejection } from '../../../errors/rejection.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { AuthorizedRequest } from '../../request/requestContext.ts'
import { toLimitRejection } from '../../request/takeLimits.ts'
import { connectionMethod, notificationMethod } from '../../../usage/metering/meter.ts'
import type { MeteredUse } from '../../../usage/metering/meter.ts'

/** How one connection and its notifications are counted. */
export interface NotificationUsage {
  /** Cheap: it is called for each delivery. @param minUnits - How many units each costs at least. */
  readonly add: (notifications: number, minUnits: 0 | 1) => void
  /** Meters what was added, and charges it to the quota if it costs something. @returns Why there may be no more. */
  readonly charge: (gateway: GatewayContext) => Rejection | undefined
  /** Since the connection was opened. */
  readonly total: () => number
}

/** Creates the usage of a connection, and meters that it was opened. */
export const createNotificationUsage = (
  opening: GatewayContext,
  getAuthorized: () => AuthorizedRequest,
): NotificationUsage => {
  const isTestKey = (): boolean => getAuthorized().tenant.testKey !== undefined
  let total = 0
  let uncharged = 0
  /** Those that cost a unit at least. */
  let unchargedReads = 0
  /** Found by a charge whose result was not known at once. */
  let rejection: Rejection | undefined

  /** Charges units. @param done - Called with what was charged. */
  const take = (gateway: GatewayContext, units: number, done: (use?: MeteredUse) => void): void => {
    const { record, account } = getAuthorized().tenant
    const { limits } = gateway.usage
    if (limits === undefined) {
      done({ units, bytes: 0 })
      return
    }
    const use = (taken: Awaited<ReturnType<typeof limits.take>>): void => {
      if (taken.granted === 0) rejection = toLimitRejection(taken, { index: 0 }, gateway)
      done(taken.granted === 0 ? undefined : { units, bytes: 0, day: taken.quota?.day })
    }
    const failed = (error: unknown): void => {
      gateway.log({ event: 'fault', where: 'quota', ...describeFault(error), count: 1 })
      done()
    }
    try {
      // One call of many units: it is granted as a whole.
      const taken = limits.take({ id: record.id, rate: undefined, account, calls: 1, passed: 1, weights: [units] })
      if (taken instanceof Promise) taken.then(use, failed)
      else use(taken)
    } catch (error) {
      failed(error)
    }
  }
  const meter = (gateway: GatewayContext, method: string, count: number, use?: MeteredUse): void => {
    const { tenant, network } = getAuthorized()
    try {
      gateway.usage.meter?.count(tenant.meteredKey, network.group.network, method, 'succeeded', undefined, count, use)
    } catch (error) {
      gateway.log({ event: 'fault', where: 'meter', ...describeFault(error), count: 1 })
    }
  }
  if (!isTestKey()) meter(opening, connectionMethod, 1)
  return {
    add: (notifications, minUnits) => {
      uncharged += notifications
      unchargedReads += notifications * minUnits
      total += notifications
    },
    charge: (gateway) => {
      if (uncharged > 0 && !isTestKey()) {
        const count = uncharged
        const { notificationWeight } = getAuthorized().network
        const units = uncharged * notificationWeight + (notificationWeight === 0 ? unchargedReads : 0)
        if (units > 0) take(gateway, units, (use) => meter(gateway, notificationMethod, count, use))
        else meter(gateway, notificationMethod, count)
      }
      uncharged = 0
      unchargedReads = 0
      return rejection
    },
    total: () => total,
  }
}
