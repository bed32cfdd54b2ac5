import { rejections } from '../../../errors/rejections.ts'
import type { Rejection } from '../../../errors/rejection.ts'

/** The caller of a connection that is counted. */
export interface ConnectionOwner {
  readonly keyId: string
  readonly ownerId: string
  /** A block of IP addresses; `undefined` if many callers share the address. */
  readonly ip: string | undefined
}

/** The most open connections. */
export interface ConnectionLimits {
  readonly maxConnectionsPerKey: number
  readonly maxConnectionsPerUser: number
  readonly maxConnectionsPerIp: number
}

/** Counts the open WebSockets of each key, user and IP. */
export interface ConnectionCounts {
  /** Counts a connection. @returns A function that you call when it has closed, or why it cannot be opened. */
  readonly add: (owner: ConnectionOwner, limits: ConnectionLimits) => (() => void) | Rejection
}

const getCount = (counts: ReadonlyMap<string, number>, name: string): number => counts.get(name) ?? 0

const change = (counts: Map<string, number>, name: string, by: 1 | -1): void => {
  const count = getCount(counts, name) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}

/** Creates the counts of a gateway. */
export const createConnectionCounts = (): ConnectionCounts => {
  const keys = new Map<string, number>()
  const users = new Map<string, number>()
  const ips = new Map<string, number>()
  return {
    add: ({ keyId, ownerId, ip }, { maxConnectionsPerKey, maxConnectionsPerUser, maxConnectionsPerIp }) => {
      if (getCount(keys, keyId) >= maxConnectionsPerKey)
        return rejections.tooManyConnections('key', maxConnectionsPerKey)
      if (getCount(users, ownerId) >= maxConnectionsPerUser)
        return rejections.tooManyConnections('user', maxConnectionsPerUser)
      if (ip !== undefined && getCount(ips, ip) >= maxConnectionsPerIp)
        return rejections.tooManyConnections('IP', maxConnectionsPerIp)
      const changeAll = (by: 1 | -1): void => {
        change(keys, keyId, by)
        change(users, ownerId, by)
        if (ip !== undefined) change(ips, ip, by)
      }
      changeAll(1)
      return () => changeAll(-1)
    },
  }
}
