import { adapters } from '@keyrail/vectors'
import type { AdapterCase } from '@keyrail/vectors'
import { expect, test } from 'vitest'
import { createTestClient } from '../createTestClient.ts'
import { acceptedProblems } from './acceptedProblems.ts'
import { runAdapterCase } from './runAdapterCase.ts'
import type { TestClient, Subject, Target } from './subject.ts'

/** A naive client: it accepts any response, matches a batch by position, and puts its URL into errors. */
const naive = (target: Target): TestClient => {
  const url = `${target.origin}/v2/${target.key}`
  const post = async (body: object): Promise<unknown> => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) console.warn(`${url} responded with ${response.status}`)
    return response.json()
  }
  const payload = (method: string, params: readonly unknown[], id = 1): object => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  })
  const request = async ({ method, params }: { readonly method: string; readonly params: readonly unknown[] }) => {
    const { result, error } = (await post(payload(method, params))) as { result?: unknown; error?: object }
    if (error) throw new Error(`${url} failed`)
    return result
  }
  return {
    ...createTestClient({ request, close: () => {} }, undefined),
    balances: (addresses) => {
      const all = post(addresses.map((address, at) => payload('eth_getBalance', [address, 'latest'], at)))
      return addresses.map(async (_, at) => ((await all) as { result: unknown }[])[at]?.result)
    },
    decodeRevert: () => ({}),
    exposed: { url },
    abortable: undefined,
  }
}

const subject: Subject = { name: 'naive', open: { library: naive, raw: naive } }
const getCase = (name: string): AdapterCase => adapters.cases.find((one) => one.name === name) as AdapterCase

test.each([
  ['a block number is one request', []],
  ['responses in another order reach their calls', ['got a wrong value']],
  [
    'a missing first response does not shift the others',
    ['call 1 got a wrong value', 'call 2 got a wrong value', 'call 3 got a wrong value'],
  ],
  ['the response to another call is a failure', ['got a made-up value']],
  ['a throttled call is retried until it succeeds: -32005 with status 200', ['failed, as a revert', '1 request']],
  ['a throttled contract read is not a revert: -32005 with status 200', ['shown as a revert']],
  ['a revert by code 3 is decoded', ['revert not decoded']],
  ['an abort rejects with the reason of the caller', ['no way to abort']],
  ['a redirect is not followed', ['got a made-up value', 'followed']],
  ['an idle client shows no key', ['key in the client']],
  ['no key shows after a plain 503', ['shown as a revert', 'key in the console']],
  ['no key shows after an error of the node', ['shown as a revert', 'key in the error']],
])('a naive client is caught: %s', async (name, problems) => {
  const report = await runAdapterCase(subject, getCase(name), { api: 'raw', limitMs: 60_000, checksMaximumTime: false })
  expect(report.problems).toEqual(problems)
})

test('a naive client that never times out is caught', async () => {
  const report = await runAdapterCase(subject, getCase('a read without a response ends at its timeout'), {
    api: 'raw',
    limitMs: 30,
  })
  expect(report.problems).toEqual(['pending after 0.03 s'])
})

test('each accepted problem is of a case that exists', () => {
  expect(acceptedProblems.filter(({ name }) => !getCase(name))).toEqual([])
})
