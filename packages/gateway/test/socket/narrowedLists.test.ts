import { expect, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import type { KeyRecord } from '../../src/auth/key/keyStore.ts'
import { result } from '../fakeUpstream.ts'
import { createClient, openHub, toLog } from '../openHub.ts'
import { call, openTenants } from '../tenants/startTenants.ts'
import { openSocket } from './openSocket.ts'
import type { SocketMessage } from './openSocket.ts'

const record: KeyRecord = {
  id: 'key-narrowed',
  kind: 'app',
  networks: ['testnet'],
  status: 'active',
  services: ['Node API'],
}
const { address: listed } = toLog(1)
const { address: other } = toLog(2)
const addresses = (...values: readonly string[]) => ({
  allow: compileAllowList({ addresses: values.map((value) => ({ value })) }),
})

const start = async () => {
  const limits = {
    maxSubscriptions: 100,
    maxAddresses: 10,
    maxTopics: 10,
    maxNotificationsPerBlock: 100,
    fullTransactions: true,
  }
  const opened = openHub({ limits })
  const started = await openTenants({ createHub: () => opened.hub })
  const { path, key } = started.addApp(record)
  const socket = await openSocket(path)
  return { opened, started, key, socket }
}

test('a narrower address list ends exactly the subscriptions that it does not allow, with an error for each', async () => {
  const { opened, started, key, socket } = await start()
  const subscribe = async (...params: unknown[]): Promise<unknown> =>
    (await socket.call('eth_subscribe', params)).result
  const kept = [
    await subscribe('newHeads'),
    await subscribe('syncing'),
    await subscribe('logs', { address: listed.toUpperCase().replace('X', 'x') }),
    await subscribe('logs', { address: [listed] }, { cursor: null }),
  ]
  // The position of the last one.
  await socket.next()
  const ended = [
    await subscribe('logs', { address: other }),
    await subscribe('logs', { address: [listed, other] }),
    await subscribe('logs', {}),
    await subscribe('newPendingTransactions'),
    await subscribe('newPendingTransactions', true),
  ]
  expect([...kept, ...ended].every((id) => typeof id === 'string')).toBe(true)
  started.keys.add(key, { ...record, ...addresses(listed) })
  const errors: SocketMessage[] = []
  while (errors.length < ended.length) errors.push((await socket.next()) as SocketMessage)
  expect(errors.map(({ id, method, params }) => [id, method, params])).toEqual(
    ended.map((subscription) => [null, 'eth_subscription', { subscription }]),
  )
  expect(errors.map(({ error }) => error?.data?.['reason'])).toEqual(ended.map(() => 'address_not_allowed'))
  expect(opened.hub.counts()).toEqual({ newHeads: 1, logs: 2, newPendingTransactions: 0, syncing: 1 })

  // The others go on, and nothing of the ended ones arrives.
  opened.chain.mine([toLog(1), toLog(2)])
  const delivered: unknown[] = []
  for (let count = 0; count < 4; count += 1) delivered.push(((await socket.next()) as SocketMessage).params)
  expect(delivered).toEqual(
    [kept[0], kept[2], kept[3], kept[3]].map((subscription) => expect.objectContaining({ subscription }) as unknown),
  )
  expect(await socket.call('eth_unsubscribe', [ended[0]])).toMatchObject({ result: false })
  expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
})

test('a subscription that ends before the batch that started it is responded to ends after its id and its notifications', async () => {
  const { opened, started, key, socket } = await start()
  let respond = (): void => {}
  started.upstream.behave = (each, response) => {
    respond = () => void response.end(result(each, '"0x1"'))
    return undefined
  }
  const subscribe = call('eth_subscribe', JSON.stringify(['logs', { address: other }]), 7)
  socket.send(`[${subscribe},${call('eth_gasPrice', '[]', 8)}]`)
  await expect.poll(() => opened.hub.counts().logs).toBe(1)
  opened.chain.mine([toLog(2)])
  started.keys.add(key, { ...record, ...addresses(listed) })
  await expect.poll(() => opened.hub.counts().logs).toBe(0)
  await expect.poll(() => started.upstream.bodies.some((body) => body.includes('eth_gasPrice'))).toBe(true)
  respond()
  const [{ result: id }] = (await socket.next()) as readonly [SocketMessage]
  expect(id).toMatch(/^0x/)
  expect(await socket.next()).toMatchObject({ params: { subscription: id, result: { address: other } } })
  expect(await socket.next()).toMatchObject({
    params: { subscription: id },
    error: { data: { reason: 'address_not_allowed' } },
  })
})

test('a method list without eth_subscribe ends them all, and one with it none', async () => {
  const { opened, started, key, socket } = await start()
  await socket.call('eth_subscribe', ['newHeads'])
  const methods = (...values: readonly string[]) => ({
    allow: compileAllowList({ methods: values.map((value) => ({ value })) }),
  })
  started.keys.add(key, { ...record, ...methods('eth_subscribe', 'net_version') })
  await expect.poll(async () => (await socket.call('eth_gasPrice')).error?.data?.['reason']).toBe('method_not_allowed')
  expect(opened.hub.counts().newHeads).toBe(1)
  started.keys.add(key, { ...record, ...methods('net_version') })
  expect(await socket.next()).toMatchObject({
    method: 'eth_subscription',
    error: { data: { reason: 'method_not_allowed' } },
  })
  expect(opened.hub.counts().newHeads).toBe(0)
})

test('a subscription that starts while the list is narrowed is checked with the new one', () => {
  const opened = openHub()
  const client = createClient()
  expect(opened.subscribe(client, 'syncing')).toHaveProperty('id')
  const { allow } = addresses(listed)
  opened.hub.review(client, (params) => allow.rejectCall({ method: 'eth_subscribe', params }))
  expect(opened.subscribe(client, 'logs', { address: other })).toMatchObject({ reason: 'address_not_allowed' })
  expect(opened.subscribe(client, 'logs', { address: listed })).toHaveProperty('id')
})
