import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseServiceConfig } from '../../src/index.ts'
import { post } from '../startGateway.ts'
import { startLimitedService, toLimitsConfig } from './startLimitedService.ts'

const call = (method: string): string => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[{}]}`
const getHeaders = (headers: Headers): (string | null)[] =>
  ['limit', 'cost', 'remaining-day'].map((name) => headers.get(`x-ratelimit-${name}`))
const send = async (url: string, method: string): Promise<(string | null)[]> =>
  getHeaders((await post(url, call(method))).headers)

const limits = { apps: { perSecond: 100, burst: 50, perDay: 1_000 }, weights: { eth_getLogs: 5 } }
const mainnet = {
  limits: { apps: { perSecond: 7, burst: 20 }, apiKeys: { perSecond: 9 }, weights: { eth_getLogs: 8, eth_call: 2 } },
}

test('the limits of a network are in headers, usage and metrics, and a reload changes them', async () => {
  const { visitor, createApp, getMetric, reload } = await startLimitedService({ limits, mainnet })
  const { id, url, mainnetUrl } = await createApp()
  expect(await send(url, 'eth_getLogs')).toEqual(['100', '5', '995'])
  expect(await send(mainnetUrl, 'eth_getLogs')).toEqual(['7', '8', '987'])
  expect(await send(mainnetUrl, 'eth_call')).toEqual(['7', '2', '985'])

  const usage = await visitor.get('GET /api/apps/{appId}/usage', { params: { appId: id } })
  expect(usage).toMatchObject({ day: { used: 15 }, limits: { perSecond: 100 }, weights: { eth_getLogs: 5 } })
  const weights = { eth_getLogs: 8, eth_call: 2 }
  expect(usage.networks).toEqual({ mainnet: { perSecond: 7, burst: 20, weights } })
  const accountUsage = await visitor.get('GET /api/usage')
  expect(accountUsage.networks).toEqual({ mainnet: { perSecond: 9, burst: 10_000, weights } })

  const labels = (network: string): string => `{network="${network}",method="eth_getLogs",outcome="succeeded"}`
  expect((await getMetric('keyrail_units_total')).filter((line) => line.includes('eth_getLogs'))).toEqual([
    `keyrail_units_total${labels('testnet')} 5`,
    `keyrail_units_total${labels('mainnet')} 8`,
  ])

  expect(await reload({ limits, mainnet: { limits: { apps: { perSecond: 3 } } } })).toEqual([])
  expect(await send(mainnetUrl, 'eth_getLogs')).toEqual(['3', '5', '980'])
  await reload({ limits })
  expect(await send(mainnetUrl, 'eth_getLogs')).toEqual(['100', '5', '975'])
  expect((await visitor.get('GET /api/usage')).networks).toEqual({})
})

test('the limits of a user and of an app apply to each network', async () => {
  const { service, visitor, createApp, userId } = await startLimitedService({ limits, mainnet })
  const { id, version, url, mainnetUrl } = await createApp()
  const narrow = async (perSecond: number, editedVersion: number): Promise<void> => {
    const body = { version: editedVersion, limits: { perSecond } }
    await visitor.get('PATCH /api/apps/{appId}', { params: { appId: id }, body })
  }
  const getRates = async (): Promise<unknown[]> => [
    (await send(url, 'eth_chainId'))[0],
    (await send(mainnetUrl, 'eth_chainId'))[0],
  ]
  await narrow(5, version)
  expect(await getRates()).toEqual(['5', '5'])
  await narrow(50, version + 1)
  expect(await getRates()).toEqual(['50', '7'])
  // What the operator sets for a user comes before the limits of a network, as it comes before those of the config.
  await service.accounts.operator.setUserLimits({ id: userId, limits: { perSecond: 30 } })
  expect(await getRates()).toEqual(['30', '30'])
})

test('a burst below the highest weight of any network is rejected', async () => {
  const { service, visitor, createApp, userId } = await startLimitedService({
    mainnet: { limits: { weights: { eth_getLogs: 75 } } },
  })
  const { id, version } = await createApp()
  const edited = await visitor.request('PATCH', `/api/apps/${id}`, { version, limits: { burst: 74 } })
  expect([edited.status, edited.text]).toEqual([422, expect.stringContaining('must be at least 75')])
  const setBurst = (burst: number) => service.accounts.operator.setUserLimits({ id: userId, limits: { burst } })
  expect(await setBurst(74)).toMatchObject({ code: 'limits_invalid' })
  expect(await setBurst(75)).toMatchObject({ limits: { burst: 75 } })
})

test('the bounds of a network apply to it', async () => {
  const { createApp, reload } = await startLimitedService({ mainnet: { bounds: { maxBatchCalls: 1 } } })
  const { url, mainnetUrl } = await createApp()
  const batch = `[${call('eth_chainId')},${call('eth_gasPrice')}]`
  expect([(await post(url, batch)).status, (await post(mainnetUrl, batch)).status]).toEqual([200, 413])
  await reload({})
  expect((await post(mainnetUrl, batch)).status).toBe(200)
})

test('the example in docs/service/limits.md is valid', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/service/limits.md'), 'utf8')
  const [, example = ''] = /## Limits of a network[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? []
  const config = parseServiceConfig({ ...toLimitsConfig('http://127.0.0.1:9', {}), ...(JSON.parse(example) as object) })
  expect(config.networks['base-mainnet']?.limits?.weights).toEqual({ eth_getLogs: 150 })
})
