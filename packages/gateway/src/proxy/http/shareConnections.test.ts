import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { shareConnections } from './shareConnections.ts'

const toStop: (() => unknown)[] = []
afterEach(() => {
  for (const stop of toStop.splice(0)) stop()
})

/** Starts a server that says hello on each connection that it accepts. */
const start = async (maxConnections: number) => {
  const server = createServer()
  server.maxConnections = maxConnections
  shareConnections(server, (ip) => ip.endsWith('127.0.0.9'))
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    if (!socket.destroyed) socket.write('hello')
    toStop.push(() => socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  toStop.push(() => server.close())
  const { port } = server.address() as AddressInfo
  /** @returns The connection, if it was accepted. */
  return async (localAddress: string): Promise<Socket | undefined> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    toStop.push(() => socket.destroy())
    const isAccepted = await Promise.race([
      once(socket, 'data').then(() => true),
      once(socket, 'close').then(() => false),
    ])
    return isAccepted ? socket : undefined
  }
}

// On other systems only 127.0.0.1 is a loopback address.
const onLinux = { skip: process.platform !== 'linux' }

test(
  'an address that opens as many connections as it can leaves some for others, and a closed one is available again',
  onLinux,
  async () => {
    const open = await start(8)
    const own: Socket[] = []
    for (let count = 0; count < 8; count += 1)
      own.push(...[await open('127.0.0.2')].filter((socket) => socket !== undefined))
    expect(own).toHaveLength(4)
    const accepted = []
    for (let last = 3; last < 7; last += 1) accepted.push((await open(`127.0.0.${last}`)) !== undefined)
    expect(accepted).toEqual([true, true, true, true])
    const [first] = own
    first?.destroy()
    await expect.poll(async () => (await open('127.0.0.8')) !== undefined).toBe(true)
  },
)

test('a shared address is limited only by maxConnections', onLinux, async () => {
  const open = await start(8)
  const accepted = []
  for (let count = 0; count < 10; count += 1) accepted.push((await open('127.0.0.9')) !== undefined)
  expect(accepted).toEqual([...Array.from({ length: 8 }, () => true), false, false])
})
