import { expect, test } from 'vitest'
import { browserBlockedPorts, canListen, listBrowserBlockedAddresses } from './browserBlockedPorts.ts'

test('lists loopback addresses with ports that browsers block', () => {
  const addresses = listBrowserBlockedAddresses()
  for (const { host, port } of addresses) {
    expect(host).toMatch(/^127\.\d+\.\d+\.\d+$/)
    expect(browserBlockedPorts).toContain(port)
  }
  // macOS only has 127.0.0.1, so each port must be listed for it.
  const localPorts = addresses.filter(({ host }) => host === '127.0.0.1').map(({ port }) => port)
  expect(localPorts.toSorted((one, other) => one - other)).toEqual(browserBlockedPorts)
})

test('fetch blocks every port of the list', async () => {
  for (const port of browserBlockedPorts) {
    const failure = await fetch(`http://127.0.0.1:${port}/`).catch((error: Error) => error.cause)
    expect([port, failure]).toMatchObject([port, { message: 'bad port' }])
  }
})

test('canListen rejects an address of another machine', async () => {
  expect(await canListen({ host: '192.0.2.1', port: 0 })).toBe(false)
  expect(await canListen({ host: '127.0.0.1', port: 0 })).toBe(true)
})
