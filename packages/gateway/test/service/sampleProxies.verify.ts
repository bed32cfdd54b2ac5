import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { getFreePort } from '../getFreePort.ts'
import { proxies, startProxy } from './sampleProxies.ts'

const toStop: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

describe.each(proxies)('the sample of $name', ({ name, configure }) => {
  test('passes on nothing that a caller sends in the name of a trusted proxy', needs(name), async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-proxy-'))
    toStop.push(() => rmSync(folder, { recursive: true, force: true }))
    const { cert: ca } = createCertificate(folder, 'localhost', ['localhost'])
    const service = createServer(({ headers }, response) => response.end(JSON.stringify(headers)))
    toStop.push(() => void service.close())
    const [port, servicePort] = [await getFreePort(), await getFreePort()]
    service.listen(servicePort, '127.0.0.1')
    toStop.push(startProxy(name, folder, configure(folder, port, [servicePort])).stop)
    const send = (): Promise<IncomingHttpHeaders> =>
      new Promise((resolve, reject) => {
        const headers = { 'x-forwarded-for': '198.51.100.7', 'x-request-id': 'chosen' }
        const sent = request({ agent: false, ca, host: 'localhost', port, headers }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve(JSON.parse(text) as IncomingHttpHeaders))
        })
        sent.on('error', reject)
        sent.end()
      })
    await expect.poll(() => send().catch(() => undefined)).toBeDefined()
    const received = await send()
    expect(received['x-forwarded-for']).toMatch(/^(?:127\.0\.0\.1|::1)$/)
    expect(received['x-request-id']).toMatch(/^[\da-f-]{32,36}$/)
    expect((await send())['x-request-id']).not.toBe(received['x-request-id'])
  })
})
