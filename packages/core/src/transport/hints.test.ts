import { describe, expect, test } from 'vitest'
import { createFailure } from '../failure/createFailure.ts'
import type { Endpoint } from './endpoint/http.ts'
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

  test.each([
    ['eth_blocknumber', 'Did you mean "eth_blockNumber"?'],
    ['eth_getLog', 'Did you mean "eth_getLogs"?'],
    ['eth_getTransactionReciept', 'Did you mean "eth_getTransactionReceipt"?'],
    ['eth_getBlock', 'Did you mean "eth_getBlockByHash"?'],
    // Methods of wallets, bundlers and providers, and one that exists but is not offered, are spelled correctly.
    ['eth_requestAccounts', hintTexts.methodUnavailable],
    ['eth_getUserOperationByHash', hintTexts.methodUnavailable],
    ['eth_callMany', hintTexts.methodUnavailable],
    ['debug_traceCall', hintTexts.methodUnavailable],
  ])('the hint for the unknown method %s is: %s', async (method, hint) => {
    const error = { code: -32601, message: `the method ${method} does not exist/is not available` }
    const failure = createFailure({ text: error.message, rpcError: error }, { method, redactedUrl })
    expect(failure.kind).toBe('methodUnavailable')
    expect(await request(ending(false, failure))).toMatchObject({ hint, message: `${failure.message} ${hint}` })
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
