import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Ports that no browser connects to, for any kind of request and under any host name. Only those that need no privileges, and without
 * 4190 and 6679: the standard blocks these two as well, but Chromium does not.
 *
 * @see Fetch standard, section 2.9 "Port blocking"
 */
export const browserBlockedPorts: readonly number[] = [
  1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080,
]

/** Where to listen on this machine. */
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
 * Lists loopback addresses that web pages cannot reach, in the order to try them. Where all of 127.0.0.0/8 is this machine (Linux, Windows)
 * the first ones are random and so almost never taken; macOS has 127.0.0.1 only, with one service for every two ports.
 */
export function listBrowserBlockedAddresses(): ListenAddress[] {
  const randomHost = (): string => `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
  return [
    ...shuffle(browserBlockedPorts).map((port) => ({ host: randomHost(), port })),
    ...shuffle(browserBlockedPorts).map((port) => ({ host: '127.0.0.1', port })),
  ]
}

/** Whether something can listen there now: the address belongs to this machine, and the port is free. */
export async function canListen({ host, port }: ListenAddress): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
