import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts listening.
 * @returns The port: the given one, or a free one if that is 0.
 * @throws If listening fails, for example with EADDRINUSE. You can retry.
 */
export const listenOn = (server: Server, { host, port }: { host: string; port: number }): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })

/**
 * Stops listening after the requests in flight have completed.
 * @param graceMs - After this, requests that are still in flight are cut off, in milliseconds.
 */
export const stopListening = async (server: Server, graceMs: number): Promise<void> => {
  if (!server.listening) return
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  clearTimeout(timer)
}
