import { randomBytes } from 'node:crypto'
import { request as requestHttp } from 'node:http'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import { chainIds } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import { clusters } from './places.ts'
import { openPreviousBuild } from './previousBuild.ts'
import { proxies, startProxy } from './sampleProxies.ts'
import { startServe, writeConfig } from './serviceProcess.ts'
import type { ServiceProcess } from './serviceProcess.ts'

// The samples of deploy/ in front of three instances, with TLS, while each is replaced.

const previous = openPreviousBuild()
afterAll(() => previous?.remove())

const toStop: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

interface Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

const read = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'

const clients = 6

/** Longer than the proxies need to notice `/readyz` or their config, on a busy machine too, in milliseconds. */
const drainDelayMs = 10_000

describe.each(proxies)('a rolling upgrade behind $name', ({ name, configure, checksReadiness }) => {
  const options = { ...needs(name, 'redis-server'), timeout: 600_000 }
  test.each(clusters)('of three instances on $name fails no call', options, async (kind) => {
    const place = await kind.open()
    toStop.push(place.close)
    const node = await startFakeUpstream(chainIds.testnet)
    toStop.push(node.stop)
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-rolling-'))
    toStop.push(() => rmSync(folder, { recursive: true, force: true }))
    const { cert: ca } = createCertificate(folder, 'localhost', ['localhost'])
    const port = await getFreePort()
    const publicUrl = `https://localhost:${port}`
    const instances: { readonly port: number; readonly file: string; process: ServiceProcess }[] = []
    toStop.push(() => Promise.all(instances.map((instance) => instance.process.stop('SIGKILL'))))
    for (const index of [0, 1, 2]) {
      const own = await getFreePort()
      const file = writeConfig(
        place.folder,
        {
          publicUrl,
          listen: { port: own },
          trustedProxies: ['127.0.0.1'],
          signUp: 'open',
          drainDelayMs,
          networks: { testnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: node.url }] } },
          limits: { apiKeys: { perDay: 1_000_000 } },
        },
        `instance-${index}.json`,
      )
      instances.push({ port: own, file, process: await startServe(file, place.environment, previous?.program) })
    }

    const configureProxy = (down?: number): readonly string[] =>
      configure(
        folder,
        port,
        instances.map((instance) => instance.port),
        down,
      )
    const proxy = startProxy(name, folder, configureProxy())
    toStop.push(proxy.stop)
    // nginx closes idle connections of callers when it reloads its config.
    const agent = new Agent({
      keepAlive: checksReadiness,
      maxSockets: clients,
      ca,
    })
    toStop.push(() => agent.destroy())
    const send = (path: string, body: string, more: OutgoingHttpHeaders = {}): Promise<Response> =>
      new Promise((resolve, reject) => {
        const headers = { 'content-type': 'application/json', ...more }
        const sent = request({ agent, host: 'localhost', port, path, method: 'POST', headers }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
          response.on('error', reject)
        })
        sent.on('error', reject)
        sent.end(body)
      })
    const call = async (path: string): Promise<string> => {
      try {
        const { status, text } = await send(path, read)
        return status === 200 ? '200' : `${status} ${text}`
      } catch (error) {
        return String(error)
      }
    }
    await expect.poll(() => call('/testnet/unknown')).toContain('jsonrpc')

    const password = randomBytes(12).toString('base64url')
    const account = { email: 'ann@example.org', password }
    const signedUp = await send('/api/account', JSON.stringify(account), { origin: publicUrl })
    expect(signedUp.status, signedUp.text).toBe(201)
    const cookie = signedUp.headers['set-cookie']?.map((one) => one.split(';', 1)[0]).join('; ')
    const key = { name: 'one', network: 'testnet' }
    const created = await send('/api/keys', JSON.stringify(key), { origin: publicUrl, cookie })
    const { apiKey } = JSON.parse(created.text) as { apiKey: string }
    const address = `${publicUrl}/testnet/${apiKey}`
    // The previous build names the URL otherwise.
    expect(created.text).toContain(address)
    const path = new URL(address).pathname
    /** Sends a request to one instance, past the proxy. */
    const sendTo = (own: number, path: string, body: object, more: OutgoingHttpHeaders): Promise<string> =>
      new Promise((resolve, reject) => {
        const headers = { host: `localhost:${port}`, origin: publicUrl, 'content-type': 'application/json', ...more }
        const sent = requestHttp({ host: '127.0.0.1', port: own, path, method: 'POST', headers }, (response) => {
          readText(response).then(resolve, reject)
        })
        sent.on('error', reject)
        sent.end(JSON.stringify(body))
      })
    /** The key of a user, then also that of a team, which only new instances know. */
    const paths = [path]
    const addTeam = async (own: number): Promise<void> => {
      const team = JSON.parse(await sendTo(own, '/api/accounts', { name: 'Acme' }, { cookie })) as { id: string }
      const headers = { cookie, 'x-keyrail-account': team.id }
      const added = JSON.parse(await sendTo(own, '/api/keys', key, headers)) as { apiKey: string }
      paths.push(new URL(`${publicUrl}/testnet/${added.apiKey}`).pathname)
    }

    const results: string[] = []
    let isEnded = false
    const load = Promise.all(
      Array.from({ length: clients }, async () => {
        while (!isEnded) {
          results.push(await call(paths[results.length % paths.length] ?? path))
          await wait(5)
        }
      }),
    )
    toStop.push(() => {
      isEnded = true
      return load
    })

    const reloadProxy = (down?: number): void => {
      if (checksReadiness) return
      configureProxy(down)
      proxy.reload()
    }
    for (const instance of instances) {
      reloadProxy(instance.port)
      const { exitCode } = await instance.process.stop()
      expect(exitCode).toBe(0)
      instance.process = await startServe(instance.file, place.environment)
      await expect.poll(async () => (await fetch(`http://127.0.0.1:${instance.port}/readyz`)).status).toBe(200)
      reloadProxy()
      if (paths.length === 1) await addTeam(instance.port)
      // The next instance stops only when the proxy sends calls to this one.
      const before = results.length
      await expect.poll(() => results.length).toBeGreaterThan(before + 100)
    }
    isEnded = true
    await load
    expect(results.filter((result) => result !== '200')).toEqual([])
    expect(results.length).toBeGreaterThan(300)

    // What a proxy logs when no instance responds must not contain the key in the path either.
    await Promise.all(instances.map((instance) => instance.process.stop('SIGKILL')))
    expect(await call(path)).toMatch(/^50[23] /)
    await proxy.stop()
    expect(proxy.getOutput()).not.toContain(apiKey)
  })
})
