import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { controlTime, until } from './controlTime.ts'
import { result } from './fakeUpstream.ts'
import { openGateway } from './openGateway.ts'
import { openRaw, postBytes } from './rawConnection.ts'
import { post } from './startGateway.ts'

const faults: unknown[] = []
const addFault = (fault: unknown): void => void faults.push(fault)
afterEach(() => {
  vi.useRealTimers()
  process.off('uncaughtException', addFault)
  faults.length = 0
})

const hour = 3_600_000
const read = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}'

describe('a hostile caller', () => {
  test.each([
    ['a CONNECT', 'CONNECT x:1 HTTP/1.1\r\n\r\n'],
    ['an upgrade', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['broken HTTP', 'no http at all\r\n\r\n'],
  ])('that resets its connection after %s affects nothing else', async (_, bytes) => {
    process.on('uncaughtException', addFault)
    const { started, path } = await openGateway()
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect({ port: started.port, host: '127.0.0.1' })
        socket.on('error', () => {})
        await once(socket, 'connect')
        await new Promise((resolve) => socket.write(bytes, resolve))
        socket.resetAndDestroy()
      }),
    )
    expect((await post(`http://127.0.0.1:${started.port}${path}`, read)).status).toBe(200)
    expect(faults).toEqual([])
  })

  test('that requests an upgrade gets a response without one', async () => {
    const { started, path } = await openGateway()
    const connection = await openRaw(started.port)
    connection.send(postBytes(path, read, { Connection: 'Upgrade', Upgrade: 'websocket' }))
    expect((await connection.next()).status).toBe(200)
  })

  test('that does not read its response loses its connection, and one that reads it gets all of it', async () => {
    const pass = controlTime()
    const { upstream, started, path } = await openGateway({ bounds: { writeTimeoutMs: 300, upstreamTimeoutMs: hour } })
    const large = 'a'.repeat(30 * 1024 * 1024)
    upstream.behave = (call) => result(call, `"${large}"`)
    const deaf = connect({ port: started.port, host: '127.0.0.1' })
    deaf.on('error', () => {})
    deaf.pause()
    deaf.write(postBytes(path, read))
    await until(() => {
      pass(10)
      return started.entries.some(({ event }) => event === 'disconnected')
    })
    deaf.destroy()
    const { status, text } = await post(`http://127.0.0.1:${started.port}${path}`, read)
    expect([status, text.length]).toEqual([200, `{"jsonrpc":"2.0","id":1,"result":"${large}"}`.length])
  })
})
