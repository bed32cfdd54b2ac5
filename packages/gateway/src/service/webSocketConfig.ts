import { webSocketRanges } from '../proxy/checkWebSocket.ts'
import { defaultWebSocket } from '../proxy/gatewayOptions.ts'
import { flag, object, whole } from './configSchema.ts'

const limit = (name: keyof typeof webSocketRanges) => whole(...webSocketRanges[name]).default(defaultWebSocket[name])

/** The schema of `webSocket`. */
export const webSocket = object({
  enabled: flag().default(defaultWebSocket.enabled),
  maxConnectionsPerKey: limit('maxConnectionsPerKey'),
  maxConnectionsPerUser: limit('maxConnectionsPerUser'),
  maxConnectionsPerIp: limit('maxConnectionsPerIp'),
  maxInFlight: limit('maxInFlight'),
  maxBufferedBytes: limit('maxBufferedBytes'),
  pingMs: limit('pingMs'),
  maxSubscriptions: limit('maxSubscriptions'),
  maxAddresses: limit('maxAddresses'),
  maxTopics: limit('maxTopics'),
  maxNotificationsPerBlock: limit('maxNotificationsPerBlock'),
  fullTransactions: flag().default(defaultWebSocket.fullTransactions),
}).prefault({})
