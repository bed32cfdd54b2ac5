import { isReadMethod } from '@keyrail/core/internal'
import { oddResponses } from '@keyrail/vectors'
import { startOddResponseServer } from '@keyrail/vectors/oddResponseServer'
import { afterAll, expect, test } from 'vitest'
import { createUpstream } from './createUpstream.ts'
import type { GroupMember } from './groupMember.ts'
import { readAttempt } from './readAttempt.ts'
import type { AttemptResult } from './readAttempt.ts'

const server = await startOddResponseServer()
const upstream = createUpstream(new URL(server.url))
afterAll(async () => {
  await upstream.close()
  await server.close()
})
const maxResponseBytes = 1_000_000

const send = (method: string): Promise<AttemptResult> =>
  new Promise((resolve) => {
    const member = { upstream, head: () => 100 } as unknown as GroupMember
    const call = { member, method, params: '[]', idempotent: isReadMethod(method), wireId: '1', maxResponseBytes }
    upstream.post({
      body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[]}`,
      budget: { left: maxResponseBytes },
      done: (fault, response) => resolve(readAttempt(call, fault, response)),
    })
  })

test.each(oddResponses.filter(({ appliesTo }) => appliesTo.includes('gateway')))(
  'the client of nodes reads an odd response as every client does: $name',
  async ({ method = 'eth_chainId', response, expect: expected }) => {
    server.response = response
    const { kind, retryAfterMs, result } = await send(method)
    if ('result' in expected) {
      expect(kind).toBe('result')
      expect(JSON.parse('value' in result ? result.value.toString() : '')).toEqual(expected.result)
    } else {
      expect(kind).toBe(expected.kind)
      if (expected.retryAfterMs !== undefined) expect(retryAfterMs).toBe(expected.retryAfterMs)
    }
  },
)
