import { expect, test } from 'vitest'
import { exampleToken } from '../node/exampleToken.ts'
import { defaultNetworks } from './devNetworks.ts'
import { createDevConfig } from './startDev.ts'

test('a new block of a quiet chain reaches subscribers at once, because the service uses the WebSockets of its nodes', () => {
  const directUrl = 'http://127.4.5.6:6667'
  const stop = (): Promise<void> => Promise.resolve()
  const node = { url: directUrl, directUrl, pid: 1, exited: new Promise<string>(() => {}), stop }
  const chains = defaultNetworks.map((network) => ({ ...network, node, token: exampleToken, forkedAt: undefined }))
  const { networks } = createDevConfig(chains)
  for (const { name } of defaultNetworks)
    expect(networks[name]?.upstreams).toMatchObject([{ url: directUrl, wsUrl: 'ws://127.4.5.6:6667' }])
})
