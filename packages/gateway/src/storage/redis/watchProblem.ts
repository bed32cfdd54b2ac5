import type { Cluster, Redis } from 'ioredis'
import { getRedisCode } from '../../errors/causes.ts'

/**
 * Keeps the last error of a connection until it works again. Without a listener, ioredis would print errors with the address.
 * @returns Gets the error.
 */
export const watchProblem = (client: Redis | Cluster): (() => unknown) => {
  let problem: unknown
  const listen = (error: unknown): void => {
    const code = getRedisCode(error)
    // It often follows the error that says why.
    if (code !== undefined && !(code === 'closed' && problem !== undefined)) problem = error
  }
  client.on('error', listen)
  // Of a node of a cluster.
  client.on('node error', listen)
  client.on('ready', () => (problem = undefined))
  return () => problem
}
