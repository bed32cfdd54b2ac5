import { expect, test } from 'vitest'
import { browserBlockedPorts, canListen, listBrowserBlockedAddresses } from './browserBlockedPorts.ts'

test('every address is a loopback address with a port that browsers do not connect to', () => {
  const addresses = listBrowserBlockedAddresses()
  for (const { host, port } of addresses) {
    expect(host).toMatch(/^127\.\d+\.\d+\.\d+$/)
    expect(browserBlockedPorts).toContain(port)
  }
  // macOS has 127.0.0.1 only: each port must be tried there.
  const plain = addresses.filter(({ host }) => host === '127.0.0.1').map(({ port }) => port)
  expect(plain.toSorted((one, other) => one - other)).toEqual(browserBlockedPorts)
})

test('fetch follows the same list, and connects to no port of it', async () => {
  for (const port of browserBlockedPorts) {
    const failure = await fetch(`http://127.0.0.1:${port}/`).catch((error: Error) => error.cause)
    expect([port, failure]).toMatchObject([port, { message: 'bad port' }])
  }
})

test('an address of another machine cannot be listened on', async () => {
  expect(await canListen({ host: '192.0.2.1', port: 0 })).toBe(false)
  expect(await canListen({ host: '127.0.0.1', port: 0 })).toBe(true)
})
