import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Begins to listen.
 * @returns The port, which is another than was asked for where that was 0.
 * @throws What listening failed with, such as EADDRINUSE; it may be tried again.
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
 * Stops to listen, once all that is in flight is answered.
 * @param graceMs - After this, what is still in flight is cut off, in milliseconds.
 */
export const stopListening = async (server: Server, graceMs: number): Promise<void> => {
  if (!server.listening) return
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  clearTimeout(cut)
}
