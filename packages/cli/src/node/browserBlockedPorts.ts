import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Ports that browsers block for all requests and host names. Only unprivileged ports, without 4190 and 6679, which the standard blocks but
 * Chromium does not.
 *
 * @see Fetch standard, section 2.9 "Port blocking"
 */
export const browserBlockedPorts: readonly number[] = [
  1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080,
]

/** A local IP address and port. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

function shuffle(ports: readonly number[]): number[] {
  const shuffled = [...ports]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = randomInt(last + 1)
    ;[shuffled[last], shuffled[other]] = [shuffled[other] as number, shuffled[last] as number]
  }
  return shuffled
}

/**
 * Lists loopback addresses that web pages cannot reach, in the order to try them. The first ones are random and so rarely in use, where all of
 * 127.0.0.0/8 is this machine (Linux, Windows). macOS only has 127.0.0.1, which leaves two ports for each service.
 */
export function listBrowserBlockedAddresses(): ListenAddress[] {
  const randomHost = (): string => `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
  return [
    ...shuffle(browserBlockedPorts).map((port) => ({ host: randomHost(), port })),
    ...shuffle(browserBlockedPorts).map((port) => ({ host: '127.0.0.1', port })),
  ]
}

/** Whether a process can listen there: the IP address belongs to this machine, and the port is free. */
export async function canListen({ host, port }: ListenAddress): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
