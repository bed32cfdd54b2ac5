import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readableRuns, secretSpellings } from '@keyrail/core/test/secretSpellings.ts'
import { getApiKeyUrl, getAppUrl, createApiKey, hashApiKey } from '../src/index.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

let upstream: FakeUpstream
let started: StartedGateway
const upstreamToken = 'upstreamtokenupstreamtoken'

beforeAll(async () => {
  upstream = await startFakeUpstream(chainIds.testnet, `/v3/${upstreamToken}?apikey=another-secret-value`)
  const url = upstream.url.replace('//', '//upstreamuser:upstreampassword@')
  started = await startGateway({ testnet: [url] }, { limits: { upstreamTimeoutMs: 200, maxBodyBytes: 50_000 } })
})
afterAll(async () => {
  await started.gateway.close({ graceMs: 0 })
  await upstream.stop()
})

/** Every form in which a secret could be found in a text. */
const forms = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
]

const found = (secrets: readonly string[], text: string): readonly string[] =>
  secrets.flatMap(forms).filter((form) => text.includes(form))

/** All that a log entry could show, by any way of printing it. */
const printed = (value: unknown): string =>
  `${JSON.stringify(value)}${inspect(value, { depth: Infinity, showHidden: true })}`

describe('no key and no upstream address', () => {
  test('is in any answer or log entry, whatever goes wrong', async () => {
    const stranger = createApiKey('testnet')
    const keys = [started.app, started.testnetKey, started.mainnetKey, started.revokedKey, started.expiredKey, stranger]
    const secrets = [
      ...keys,
      ...keys.map(hashApiKey),
      upstreamToken,
      'another-secret-value',
      'upstreamuser',
      'upstreampassword',
      new URL(upstream.url).host,
    ]
    const texts: string[] = []
    const call = (method: string): string => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[]}`
    const behaviours = [
      (seen: { id: number; method: string; params: unknown }) => result(seen, '1'),
      (seen: { id: number }) =>
        `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":${JSON.stringify(`at ${upstream.url}`)},"data":"${upstreamToken} ${upstream.url.replaceAll('/', '\\/')} upstreamuser:upstreampassword@${new URL(upstream.url).host} ${Buffer.from('upstreamuser:upstreampassword').toString('base64')}"}}`,
      () => `<html>${upstream.url}</html>`,
      () => undefined,
    ]
    for (const behave of behaviours) {
      upstream.behave = behave
      for (const address of [
        getAppUrl(started.url, 'testnet', started.app),
        getAppUrl(started.url, 'mainnet', started.app),
        getApiKeyUrl(started.url, 'testnet', started.testnetKey),
        `${getApiKeyUrl(started.url, 'testnet', started.testnetKey)}?key=${started.app}`,
        `${getApiKeyUrl(started.url, 'testnet', started.testnetKey)}/`,
        getApiKeyUrl(started.url, 'mainnet', started.testnetKey),
        getApiKeyUrl(started.url, 'testnet', started.mainnetKey),
        getApiKeyUrl(started.url, 'testnet', started.revokedKey),
        getApiKeyUrl(started.url, 'testnet', started.expiredKey),
        getApiKeyUrl(started.url, 'testnet', stranger),
        getApiKeyUrl(started.url, 'testnet', started.app),
        `${started.url}/${stranger}`,
      ])
        for (const body of [
          call('eth_call'),
          `[${call('eth_call')},${call('eth_getLogs')}]`,
          call('nope'),
          '{',
          '[]',
          'x'.repeat(60_000),
        ]) {
          const answer = await post(address, body)
          texts.push(printed([...answer.headers]), answer.text)
        }
    }
    // A method's name is in the answer, where its caller put it, but a log would keep it.
    await post(getApiKeyUrl(started.url, 'testnet', started.testnetKey), call(started.testnetKey))
    expect(texts.length).toBe(4 * 12 * 6 * 2)
    expect(found(secrets, texts.join('\n'))).toEqual([])
    expect(started.entries.filter(({ event }) => event === 'request').length).toBe(4 * 12 * 6 + 1)
    expect(found(secrets, started.entries.map(printed).join('\n'))).toEqual([])
  })

  test('the search finds a secret that is there', () => {
    const key = createApiKey('app')
    for (const text of [key, `x${Buffer.from(key).toString('base64')}`, printed({ a: [{ key }] })])
      expect(found([key], text)).not.toEqual([])
  })

  test("a node's error is otherwise left as it is, and results are not touched at all", async () => {
    upstream.behave = (seen) =>
      `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":"see ${upstreamToken}, é"}}`
    const address = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call"}'
    expect((await post(address, body)).text).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"see ***, é"}}',
    )
    upstream.behave = (seen) => result(seen, `"${upstreamToken}"`)
    expect((await post(address, body)).text).toBe(`{"jsonrpc":"2.0","id":1,"result":"${upstreamToken}"}`)
  })

  test("no part of a node's key is in its error, however the node spells it; a result is not touched", async () => {
    // Without the short timeout of the others: no answer of the gateway's own may come in between.
    const patient = await startGateway({ testnet: [upstream.url.replace('//', '//upstreamuser:upstreampassword@')] })
    onTestFinished(() => patient.gateway.close({ graceMs: 0 }))
    const address = getApiKeyUrl(patient.url, 'testnet', patient.testnetKey)
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call"}'
    const secrets = [upstreamToken, 'another-secret-value', 'upstreampassword']
    for (const [name, spell] of Object.entries(secretSpellings))
      for (const secret of secrets) {
        const text = JSON.stringify(`<${spell(secret)}>`)
        upstream.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":${text}}}`
        for (const sent of [body, `[${body},${body}]`]) {
          const answer = await post(address, sent)
          expect([name, readableRuns(answer.text, secret)]).toEqual([name, []])
          expect(answer.text).toContain('"message":"<')
        }
        upstream.behave = (seen) => result(seen, text)
        expect((await post(address, body)).text).toBe(`{"jsonrpc":"2.0","id":1,"result":${text}}`)
      }
  })

  test('is reachable from the gateway or its options as shown', () => {
    expect(found([upstreamToken, started.testnetKey], printed(started.gateway))).toEqual([])
  })
})
