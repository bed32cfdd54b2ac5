import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { runHere } from './runHere.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const right = {
  network: 'ethereum-mainnet',
  upstream: 'alchemy',
  member: 'url',
  redactedUrl: 'https://eth-mainnet.g.alchemy.com/…',
  problem: undefined,
}
const wrong = {
  ...right,
  network: 'base-mainnet',
  redactedUrl: 'https://base-mainnet.g.alchemy.com/…',
  problem: 'HTTP 403',
}
const checkVendors = vi.hoisted(() => vi.fn<(file: string) => Promise<unknown>>())
// Vendors are hosts of the internet.
vi.mock('@keyrail/gateway', async (original) => ({ ...(await original<object>()), checkVendors }))

test.each([
  [[right], 0, 'ethereum-mainnet  alchemy  https://eth-mainnet.g.alchemy.com/…  right chain\n', ''],
  [
    [right, wrong],
    1,
    'ethereum-mainnet  alchemy  https://eth-mainnet.g.alchemy.com/…   right chain\n' +
      'base-mainnet      alchemy  https://base-mainnet.g.alchemy.com/…  HTTP 403\n',
    '1 of 2 nodes of vendors cannot be used',
  ],
])('keyrail doctor --vendors lists the nodes of vendors (%#)', async (checks, exitCode, stdout, error) => {
  checkVendors.mockResolvedValue(checks)
  const run = await runHere(['doctor', '--vendors'])
  expect(run).toMatchObject({ exitCode, stdout })
  expect(run.stderr).toContain(error)
  expect(checkVendors).toHaveBeenLastCalledWith('keyrail.config.json')
})

test('keyrail doctor --vendors --json has them too', async () => {
  checkVendors.mockResolvedValue([right, wrong])
  const { exitCode, stdout } = await runHere(['doctor', '--vendors', '--json', '--config', 'other.json'])
  expect(exitCode).toBe(1)
  const { member: _member, ...shown } = { ...right, problem: null }
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    nodes: [shown, { ...shown, network: 'base-mainnet', redactedUrl: wrong.redactedUrl, problem: 'HTTP 403' }],
  })
})

test('keyrail doctor --vendors needs a config with a vendor', async () => {
  const { checkVendors: check } = await vi.importActual<{ checkVendors: (file: string) => Promise<unknown> }>(
    '@keyrail/gateway',
  )
  checkVendors.mockImplementation(check)
  const config = join(folder, 'keyrail.config.json')
  const networks = { 'base-mainnet': { upstreams: ['http://127.0.0.1:9'] } }
  writeFileSync(config, JSON.stringify({ publicUrl: 'http://127.0.0.1:8080', networks }))
  const { exitCode, stderr } = await runHere(['doctor', '--vendors', '--config', config])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('has no node by the name of its vendor')
})
