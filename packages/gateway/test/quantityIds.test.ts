import { expect, test } from 'vitest'
import { createFilters } from '../src/proxy/upstream/createFilters.ts'
import { createSubscriptionIds } from '../src/proxy/subscription/hub/notification.ts'
import { toQuantityId } from '../src/lib/rpc/quantity.ts'

test('a client that reads an id as a number sends the same id back, because no id has a leading zero', () => {
  const toNumberAndBack = (id: string): string => `0x${BigInt(id).toString(16)}`
  expect(toQuantityId(new Uint8Array(16))).toBe(`0x80${'00'.repeat(15)}`)
  const filters = createFilters({ maxPerKey: 1_000 })
  const getSubscriptionId = createSubscriptionIds('secret', 'testnet')
  for (let index = 0; index < 200; index++) {
    const { id } = filters.add({ keyId: 'key', member: {} as never, nodeId: '"0x1"' })
    expect(toNumberAndBack(id)).toBe(id)
    const subscriptionId = getSubscriptionId('["newHeads"]', index)
    expect(toNumberAndBack(subscriptionId)).toBe(subscriptionId)
  }
})
