import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import { openOperatorTools, parseServiceConfig } from '../../src/index.ts'
import { post } from '../startGateway.ts'
import { createFolder, startLimitedService, toLimitsConfig } from './startLimitedService.ts'

const getLogs = '{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{}]}'

test('weights are in usage and in metrics, and a reload changes them', async () => {
  const { visitor, createApp, getMetric, reload } = await startLimitedService({
    limits: { weights: { eth_call: 26, eth_chainId: 1, eth_getLogs: 75 } },
  })
  const { id, url } = await createApp()
  const charged = await post(url, getLogs)
  expect([charged.headers.get('x-ratelimit-cost'), charged.headers.get('x-ratelimit-remaining-day')]).toEqual([
    '75',
    '99925',
  ])
  const usage = await visitor.get('GET /api/apps/{appId}/usage', { params: { appId: id } })
  expect(usage.day.used).toBe(75)
  // The highest first, without those of 1.
  expect(Object.entries(usage.weights)).toEqual([
    ['eth_getLogs', 75],
    ['eth_call', 26],
  ])
  expect((await visitor.get('GET /api/usage')).weights).toEqual(usage.weights)
  const labels = '{network="testnet",method="eth_getLogs",outcome="succeeded"}'
  expect(await getMetric('keyrail_calls_total')).toEqual([`keyrail_calls_total${labels} 1`])
  expect(await getMetric('keyrail_units_total')).toEqual([`keyrail_units_total${labels} 75`])

  expect(await reload({ limits: { weights: { eth_getLogs: 10 } } })).toEqual([])
  expect((await post(url, getLogs)).headers.get('x-ratelimit-cost')).toBe('10')
  expect((await visitor.get('GET /api/usage')).weights).toEqual({ eth_getLogs: 10 })
  expect(await getMetric('keyrail_units_total')).toEqual([`keyrail_units_total${labels} 85`])

  await reload({})
  expect((await post(url, getLogs)).headers.get('x-ratelimit-cost')).toBeNull()
  expect((await visitor.get('GET /api/usage')).weights).toEqual({})
})

const fix = 'must be at least 75, the highest weight of a method, because a call above the burst is never granted'

test('a burst below the highest weight is rejected for an app and for a user', async () => {
  const { service, visitor, createApp, userId, reload } = await startLimitedService({
    limits: { weights: { eth_getLogs: 75 } },
  })
  const { id, version } = await createApp()
  const edit = (burst: number) => visitor.request('PATCH', `/api/apps/${id}`, { version, limits: { burst } })
  const setUser = (limits: { burst?: number; perSecond?: number }) =>
    service.accounts.operator.setUserLimits({ id: userId, limits })
  expect(await edit(74)).toMatchObject({
    status: 422,
    json: { error: { code: 'invalid', message: `limits.burst ${fix}`, fields: [{ field: 'limits.burst', fix }] } },
  })
  const rejected = { status: 422, code: 'limits_invalid', message: `burst ${fix}.`, field: 'limits.burst' }
  expect(await setUser({ burst: 74 })).toEqual(rejected)
  // A burst that is left out is the service's, which is checked with the weights.
  expect(await setUser({ perSecond: 1 })).toMatchObject({ limits: { perSecond: 1 } })
  expect(await setUser({ burst: 75 })).toMatchObject({ limits: { burst: 75 } })
  expect((await edit(75)).status).toBe(200)
  await reload({ limits: { weights: { eth_getLogs: 76 } } })
  expect(await setUser({ burst: 75 })).toMatchObject({ code: 'limits_invalid' })
})

test('the operator commands reject a burst below the highest weight', async () => {
  const folder = createFolder()
  const file = join(folder, 'keyrail.config.json')
  await (await openStorage({ file: join(folder, 'keyrail.db') })).close()
  const config = {
    ...toLimitsConfig('http://127.0.0.1:9', { limits: { weights: { eth_getLogs: 75 } } }),
    storage: { file: 'keyrail.db' },
  }
  writeFileSync(file, JSON.stringify(config))
  const { users, close } = await openOperatorTools(file, { environment: {} })
  onTestFinished(close)
  const added = await users.addUser({ email: 'ann@example.org', password: 'plum tin roof gate' })
  const id = 'id' in added ? added.id : ''
  expect(await users.setUserLimits({ id, limits: { burst: 74 } })).toMatchObject({ message: `burst ${fix}.` })
  expect(await users.setUserLimits({ id, limits: { burst: 75 } })).toMatchObject({ limits: { burst: 75 } })
})

test('the example in docs/service/limits.md is valid', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/service/limits.md'), 'utf8')
  const [, example = ''] = /## Weights[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? []
  const config = parseServiceConfig({ ...toLimitsConfig('http://127.0.0.1:9', {}), ...(JSON.parse(example) as object) })
  expect(config.limits.weights).toEqual({ eth_getLogs: 75, eth_call: 5, debug_traceTransaction: 300 })
})
