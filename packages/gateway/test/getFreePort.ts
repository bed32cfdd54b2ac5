import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Finds a free port of 127.0.0.1. */
export const getFreePort = async (): Promise<number> => {
  for (;;) {
    // Below the ports that systems give to outgoing connections, one of which could take it before the caller listens.
    const port = randomInt(10_000, 32_768)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
