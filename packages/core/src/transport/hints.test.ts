import { describe, expect, test } from 'vitest'
import { createFailure } from '../failure/createFailure.ts'
import type { Endpoint } from './http.ts'
import { hintTexts } from './hints.ts'
import { compose, hints } from '../../test/layers.ts'

const redactedUrl = 'https://node.example/v2/…'
const ending = (ok: boolean, value: unknown): Endpoint => ({
  redactedUrl,
  close: () => {},
  send: (_, complete) => complete(ok, value),
})
const request = (endpoint: Endpoint): Promise<unknown> =>
  compose(endpoint, hints())
    .request({ method: 'eth_call' })
    .catch((error: unknown) => error)

describe('hints', () => {
  test('add the hint to a failure, and to the end of its message', async () => {
    const failure = createFailure({ text: 'over rate limit', status: 429 }, { method: 'eth_call', redactedUrl })
    expect(failure.hint).toBeUndefined()
    const hinted = (await request(ending(false, failure))) as Error
    expect(hinted).toMatchObject({ ...failure, hint: hintTexts.throttled })
    expect(hinted.message).toBe(`${failure.message} ${hintTexts.throttled}`)
    expect(hinted.stack).toContain(hintTexts.throttled)
  })

  test('do not change failures without a hint', async () => {
    const failure = createFailure({ kind: 'aborted', text: 'closed' }, { method: 'eth_call', redactedUrl })
    expect(await request(ending(false, failure))).toBe(failure)
    const reason = new Error('mine')
    expect(await request(ending(false, reason))).toBe(reason)
    expect(await request(ending(false, undefined))).toBeUndefined()
    expect(await request(ending(true, failure))).toBe(failure)
  })

  test('are one short sentence each', () => {
    for (const hint of Object.values(hintTexts)) expect(hint).toMatch(/^[A-Z][^.]{5,60}\.$/)
  })
})
