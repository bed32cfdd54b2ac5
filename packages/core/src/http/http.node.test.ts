import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import tls from 'node:tls'
import { fileURLToPath } from 'node:url'
import { createTransport } from '@keyrail/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { until, useFakeClock } from '../../test/useFakeClock.ts'
import { getFailure } from '../../test/getFailure.ts'

const closers: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const close of closers.splice(0)) close()
})

interface Request {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** A server of bare sockets, so that it can close one at any moment. */
const startServer = async (
  reply: (request: Request, socket: Socket) => void,
): Promise<{ url: string; sockets: Socket[] }> => {
  const sockets: Socket[] = []
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
      const [, head = '', length = ''] = /^([^]*?content-length: (\d+)[^]*?\r\n\r\n)/i.exec(text) ?? []
      if (!head || text.length < head.length + Number(length)) return
      const body = text.slice(head.length, head.length + Number(length))
      text = text.slice(head.length + Number(length))
      reply(JSON.parse(body) as Request, socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

const reply = (socket: Socket, { id }: Request, result: unknown, headers = ''): void => {
  const body = JSON.stringify({ jsonrpc: '2.0', id, result })
  socket.write(`HTTP/1.1 200 OK\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`)
}

const open = (url: string, options = {}): ReturnType<typeof createTransport> => {
  const transport = createTransport({ url, retry: false, ...options })
  closers.push(transport.close)
  return transport
}

/** The sockets that this process opens from now on, as a client. */
const watchConnections = (): Socket[] => {
  const opened: Socket[] = []
  const onSocket = (message: unknown): void => void opened.push((message as { readonly socket: Socket }).socket)
  subscribe('net.client.socket', onSocket)
  closers.push(() => unsubscribe('net.client.socket', onSocket))
  return opened
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const blockNumber = { method: 'eth_blockNumber' }

/** Closes each connection soon after a response, often at the time of the next request. */
const closesAtRandom = (arrived?: (request: Request) => void) =>
  startServer((request, socket) => {
    arrived?.(request)
    reply(socket, request, request.params[0])
    const close = (): unknown => (Math.random() < 0.5 ? socket.end() : socket.resetAndDestroy())
    if (Math.random() < 0.6) setTimeout(close, Math.random() * 3)
    else if (Math.random() < 0.3) setImmediate(close)
  })

describe('a server that closes idle connections around the next request', () => {
  test('fails no read out of 1,200, without the retry layer', async () => {
    let arrived = 0
    const { url } = await closesAtRandom(() => arrived++)
    const transport = open(url)
    let responses = 0
    const caller = async (from: number): Promise<void> => {
      for (let n = from; n < from + 150; n++) {
        expect(await transport.request({ method: 'eth_getBalance', params: [`0x${n.toString(16)}`] })).toBe(
          `0x${n.toString(16)}`,
        )
        responses++
        await wait(Math.random() * 3)
      }
    }
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((n) => caller(n * 1_000)))
    expect(responses).toBe(1_200)
    expect(arrived).toBeGreaterThanOrEqual(1_200)
  })

  test('is sent none of 600 transactions twice, with any retries', async () => {
    const arrived = new Map<unknown, number>()
    const { url } = await closesAtRandom(({ params: [raw] }) => arrived.set(raw, (arrived.get(raw) ?? 0) + 1))
    const transport = open(url, { retry: { retries: 3, baseMs: 1 } })
    let ambiguous = 0
    const caller = async (from: number): Promise<void> => {
      for (let n = from; n < from + 150; n++) {
        const raw = `0x${n.toString(16)}`
        const call = transport.request({ method: 'eth_sendRawTransaction', params: [raw] })
        const outcome = await call.catch((error: unknown) => error)
        if (outcome !== raw) {
          expect(outcome).toMatchObject({ kind: 'network' })
          ambiguous++
        }
        await wait(Math.random() * 3)
      }
    }
    await Promise.all([0, 1, 2, 3].map((n) => caller(n * 1_000)))
    expect([...arrived.values()].filter((times) => times > 1)).toEqual([])
    // The race happened: some requests were cut off, and most succeeded.
    expect(ambiguous).toBeGreaterThan(0)
    expect(arrived.size).toBeGreaterThan(300)
  })
})

describe('a keep-alive connection', () => {
  test('is closed before the timeout that its server announces', async () => {
    const { url, sockets } = await startServer((request, socket) =>
      reply(socket, request, '0x1', 'Keep-Alive: timeout=2, max=100\r\n'),
    )
    useFakeClock()
    const transport = open(url)
    for (let n = 0; n < 3; n++) await transport.request(blockNumber)
    expect(sockets).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1_000)
    await transport.request(blockNumber)
    expect(sockets).toHaveLength(2)
  })

  test('is closed if bytes arrive while it is idle, and no call reads them as its response', async () => {
    const { url, sockets } = await startServer((request, socket) => reply(socket, request, request.params[0]))
    const opened = watchConnections()
    const transport = open(url)
    expect(await transport.request({ method: 'eth_getBalance', params: ['0x1'] })).toBe('0x1')
    const bytesBefore = opened[0]?.bytesRead ?? 0
    reply(sockets[0] as Socket, { id: 2, method: '', params: [] }, 'planted')
    await expect.poll(() => opened[0]?.bytesRead).toBeGreaterThan(bytesBefore)
    expect(await transport.request({ method: 'eth_getBalance', params: ['0x2'] })).toBe('0x2')
    expect(sockets).toHaveLength(2)
  })

  test('is closed if the server says so', async () => {
    const { url, sockets } = await startServer((request, socket) => {
      reply(socket, request, '0x1', 'Connection: close\r\n')
    })
    const transport = open(url)
    for (let n = 0; n < 3; n++) expect(await transport.request(blockNumber)).toBe('0x1')
    expect(sockets).toHaveLength(3)
  })

  test('does not keep the process alive, and neither does its timer', async () => {
    const { url } = await startServer((request, socket) => reply(socket, request, '0x1'))
    const program = `
      import { createTransport } from '@keyrail/core'
      const transport = createTransport({ url: '${url}' })
      console.log(await transport.request({ method: 'eth_blockNumber' }))
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
      // Only what keeps the process running is listed.
      console.log(process.getActiveResourcesInfo().filter((name) => /^(Timeout|TCP|TLS)/.test(name)).join())
    `
    const child = spawn(process.execPath, ['--conditions=@keyrail/source', '--input-type=module', '--eval', program], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    await once(child, 'close')
    expect(output).toBe('0x1\n\n')
  })
})

describe('a call that runs out of time', () => {
  test.runIf(process.platform === 'linux')('ends its connection while that is still half open', async () => {
    // A stopped process accepts nothing: when its queue is full, the kernel leaves further connections half open.
    const child = spawn(
      process.execPath,
      [
        '--eval',
        `const server = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    closers.push(() => child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    child.kill('SIGSTOP')
    const port = Number(line.toString())
    const fillers = Array.from({ length: 6 }, () => net.connect(port, '127.0.0.1').on('error', () => {}))
    closers.push(() => fillers.forEach((socket) => socket.destroy()))
    await until(() => fillers.some((socket) => !socket.connecting))
    useFakeClock()
    const opened = watchConnections()
    const transport = open(`http://127.0.0.1:${port}`)
    const call = getFailure(transport.request(blockNumber, { timeoutMs: 500 }))
    await until(() => opened.length === 1)
    await vi.advanceTimersByTimeAsync(499)
    expect(opened[0]).toMatchObject({ connecting: true, destroyed: false })
    await vi.advanceTimersByTimeAsync(1)
    expect(await call).toMatchObject({ kind: 'timeout', source: 'client' })
    await until(() => opened[0]?.destroyed === true)
  })

  test('ends its connection in the middle of a TLS handshake', async () => {
    const sockets: Socket[] = []
    let hellos = 0
    const server = net.createServer((socket) => sockets.push(socket.on('error', () => {}).on('data', () => hellos++)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => server.close())
    useFakeClock()
    const transport = open(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const call = getFailure(transport.request(blockNumber, { timeoutMs: 100 }))
    await until(() => hellos === 1)
    await vi.advanceTimersByTimeAsync(100)
    expect(await call).toMatchObject({ kind: 'timeout' })
    await expect.poll(() => sockets.map(({ readableEnded }) => readableEnded)).toEqual([true])
  })
})

describe('a transaction is resent if the connection was never established', () => {
  const transaction = { method: 'eth_sendRawTransaction', params: ['0x02'] }

  test('if every address of a host rejects the connection', async () => {
    const server = net.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
    const agent = new http.Agent({ lookup: (_host, _options, done) => done(null, addresses) })
    const failure = await getFailure(open(`http://node.example:${port}`, { agent }).request(transaction))
    expect(failure).toMatchObject({ kind: 'network', retryable: true })
  })

  test('if the server disconnects during the TLS handshake', async () => {
    const server = net.createServer((socket) => socket.on('data', () => socket.end()).on('error', () => {}))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => server.close())
    const transport = open(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect(await getFailure(transport.request(transaction))).toMatchObject({ kind: 'network', retryable: true })
  })
})

describe('over TLS', () => {
  // A certificate for `localhost`, valid until 2120.
  const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgC2Tz1ujzxgYgeudd
kREB8pd5BB+Fg6sM2JGCWoDUFJmhRANCAASl3aQLqZCc8zo/SPd9tgJ1oVx0t555
vpl3kwvEYK4R8uebNpOVXg3G+5u24c6/HM+u/qDakPjXjiDvPlLSQ7JI
-----END PRIVATE KEY-----`
  const cert = `-----BEGIN CERTIFICATE-----
MIIBQDCB6KADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEpd2kC6mQnPM6P0j3
fbYCdaFcdLeeeb6Zd5MLxGCuEfLnmzaTlV4NxvubtuHOvxzPrv6g2pD4144g7z5S
0kOySKMpMCcwFAYDVR0RBA0wC4IJbG9jYWxob3N0MA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDRwAwRAIgXkqvTRQODK/rI2pTHcCSIUksGJC/coYtb/9tgEWw
ECcCIDp+kByDE6WGVPpWb/eXbwoBiZGhk0EqhZPJu2IjL/t0
-----END CERTIFICATE-----`

  const startTls = async (): Promise<{ port: number; handshakes: { name: unknown; resumed: boolean }[] }> => {
    const handshakes: { name: unknown; resumed: boolean }[] = []
    const server = https.createServer({ key, cert }, (request, response) => {
      request
        .resume()
        .on('end', () =>
          setImmediate(() => response.end('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"here"}}')),
        )
    })
    server.on('secureConnection', (socket: tls.TLSSocket) =>
      handshakes.push({ name: socket.servername, resumed: socket.isSessionReused() }),
    )
    await new Promise<void>((resolve) => server.listen(0, resolve))
    closers.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return { port: (server.address() as AddressInfo).port, handshakes }
  }

  test('names the scheme if the server has no TLS', async () => {
    const server = http.createServer()
    closers.push(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    await expect(open(url).request({ method: 'eth_chainId' })).rejects.toMatchObject({
      kind: 'network',
      message: expect.stringContaining(
        'the server responded without TLS: use http, or the port that has TLS',
      ) as unknown,
    })
  })

  test('rejects an untrusted certificate before it sends anything', async () => {
    const { port, handshakes } = await startTls()
    const transaction = { method: 'eth_sendRawTransaction', params: ['0x02'] }
    const failure = await getFailure(open(`https://localhost:${port}`).request(transaction))
    expect(String(failure)).toMatch(/self-signed/)
    expect(failure).toMatchObject({ kind: 'network', retryable: true })
    expect(handshakes.every(({ resumed }) => !resumed)).toBe(true)
  })

  test('reuses its connection, names the server, and resumes the session on the next connection', async () => {
    const trusted = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...trusted, cert])
    closers.push(() => tls.setDefaultCACertificates(trusted))
    const { port, handshakes } = await startTls()
    const transport = open(`https://localhost:${port}`)
    for (let n = 0; n < 3; n++) expect(String(await getFailure(transport.request(blockNumber)))).toMatch(/here/)
    expect(handshakes).toEqual([{ name: 'localhost', resumed: false }])
    // Two calls that cannot share a request.
    await Promise.all([blockNumber, { method: 'eth_chainId' }].map((call) => getFailure(transport.request(call))))
    expect(handshakes[1]).toEqual({ name: 'localhost', resumed: true })
  })
})
