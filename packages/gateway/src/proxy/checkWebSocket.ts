import { checkInteger, checkSwitch, getMembers, maxMs } from './checkOption.ts'
import { defaultWebSocket } from './gatewayOptions.ts'
import type { WebSocketOptions } from './gatewayOptions.ts'

type LimitName = Exclude<keyof WebSocketOptions, 'enabled' | 'fullTransactions'>

/** The range of each limit of WebSockets. */
export const webSocketRanges: Readonly<Record<LimitName, readonly [min: number, max: number]>> = {
  maxConnectionsPerKey: [1, 1_000_000],
  maxConnectionsPerUser: [1, 1_000_000],
  maxConnectionsPerIp: [1, 1_000_000],
  maxInFlight: [1, 10_000],
  maxBufferedBytes: [1, Number.MAX_SAFE_INTEGER],
  pingMs: [1_000, maxMs],
  maxSubscriptions: [1, 100_000],
  maxAddresses: [1, 100_000],
  maxTopics: [1, 100_000],
  maxNotificationsPerBlock: [1, 10_000_000],
}

/** Checks the options of WebSockets. @throws {TypeError} that names the option. */
export const checkWebSocket = (given: unknown): Required<WebSocketOptions> => {
  const members = getMembers(given === undefined ? {} : given, 'webSocket', Object.keys(defaultWebSocket))
  const check = (name: LimitName): number => {
    const [min, max] = webSocketRanges[name]
    const value = members[name]
    return value === undefined ? defaultWebSocket[name] : checkInteger(value, `webSocket.${name}`, max, min)
  }
  return {
    enabled: checkSwitch(members['enabled'], 'webSocket.enabled', defaultWebSocket.enabled),
    maxConnectionsPerKey: check('maxConnectionsPerKey'),
    maxConnectionsPerUser: check('maxConnectionsPerUser'),
    maxConnectionsPerIp: check('maxConnectionsPerIp'),
    maxInFlight: check('maxInFlight'),
    maxBufferedBytes: check('maxBufferedBytes'),
    pingMs: check('pingMs'),
    maxSubscriptions: check('maxSubscriptions'),
    maxAddresses: check('maxAddresses'),
    maxTopics: check('maxTopics'),
    maxNotificationsPerBlock: check('maxNotificationsPerBlock'),
    fullTransactions: checkSwitch(
      members['fullTransactions'],
      'webSocket.fullTransactions',
      defaultWebSocket.fullTransactions,
    ),
  }
}
