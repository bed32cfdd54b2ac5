import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A TCP load balancer in front of instances, which can cut connections. */
export interface Balancer {
  readonly url: string
  /** The ports of the instances that are up. Each new connection goes to one of them at random. */
  ports: readonly number[]
  /** Cuts this part of the open connections, at random. @returns How many. */
  readonly cut: (part: number) => number
  readonly close: () => Promise<void>
}

/** Starts a load balancer. @param random - Numbers from 0 to 1. */
export const startBalancer = async (random: () => number): Promise<Balancer> => {
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(balancer.ports[Math.floor(random() * balancer.ports.length)] ?? 9, '127.0.0.1')
    open.add(near)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('close', () => {
        open.delete(near)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (part: number): number => {
    const chosen = [...open].filter(() => random() < part)
    for (const socket of chosen) socket.resetAndDestroy()
    return chosen.length
  }
  const balancer: Balancer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ports: [],
    cut,
    close: async () => {
      cut(1)
      server.close()
      await once(server, 'close')
    },
  }
  return balancer
}
