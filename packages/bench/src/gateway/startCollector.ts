import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a collector of spans, which reads and drops them. */
export async function startCollector(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}
