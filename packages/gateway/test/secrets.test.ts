import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readableRuns, secretSpellings } from '@keyrail/core/test/secretSpellings.ts'
import { createApiKey, getApiKeyUrl, getAppUrl } from '../src/index.ts'
import { hashApiKey } from '../src/lib/secrets/hashApiKey.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { openSocket, rejectSocket } from './socket/openSocket.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

let upstream: FakeUpstream
let started: StartedGateway
const upstreamToken = 'upstreamtokenupstreamtoken'

beforeAll(async () => {
  upstream = await startFakeUpstream(chainIds.testnet, `/v3/${upstreamToken}?apikey=another-secret-value`)
  const url = upstream.url.replace('//', '//upstreamuser:upstreampassword@')
  started = await startGateway({ testnet: [url] }, { bounds: { upstreamTimeoutMs: 200, maxBodyBytes: 50_000 } })
})
afterAll(async () => {
  await started.gateway.close({ graceMs: 0 })
  await upstream.stop()
})

/** The forms in which a text could contain a secret. */
const toForms = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
]

const findSecrets = (secrets: readonly string[], text: string): readonly string[] =>
  secrets.flatMap(toForms).filter((form) => text.includes(form))

/** A value as every way of printing it shows it. */
const print = (value: unknown): string =>
  `${JSON.stringify(value)}${inspect(value, { depth: Infinity, showHidden: true })}`

describe('no key and no upstream URL', () => {
  test('is in any response or log entry, in all cases of errors', async () => {
    const unknownKey = createApiKey('testnet')
    const keys = [
      started.app,
      started.testnetKey,
      started.mainnetKey,
      started.revokedKey,
      started.expiredKey,
      unknownKey,
    ]
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
      for (const rpcUrl of [
        getAppUrl(started.url, 'testnet', started.app),
        getAppUrl(started.url, 'mainnet', started.app),
        getApiKeyUrl(started.url, 'testnet', started.testnetKey),
        `${getApiKeyUrl(started.url, 'testnet', started.testnetKey)}?key=${started.app}`,
        `${getApiKeyUrl(started.url, 'testnet', started.testnetKey)}/`,
        getApiKeyUrl(started.url, 'mainnet', started.testnetKey),
        getApiKeyUrl(started.url, 'testnet', started.mainnetKey),
        getApiKeyUrl(started.url, 'testnet', started.revokedKey),
        getApiKeyUrl(started.url, 'testnet', started.expiredKey),
        getApiKeyUrl(started.url, 'testnet', unknownKey),
        getApiKeyUrl(started.url, 'testnet', started.app),
        `${started.url}/${unknownKey}`,
      ])
        for (const body of [
          call('eth_call'),
          `[${call('eth_call')},${call('eth_getLogs')}]`,
          call('nope'),
          '{',
          '[]',
          'x'.repeat(60_000),
        ]) {
          const response = await post(rpcUrl, body)
          texts.push(print([...response.headers]), response.text)
        }
    }
    // The response repeats a method's name to its caller, but the log must not contain it.
    await post(getApiKeyUrl(started.url, 'testnet', started.testnetKey), call(started.testnetKey))
    expect(texts.length).toBe(4 * 12 * 6 * 2)
    expect(findSecrets(secrets, texts.join('\n'))).toEqual([])
    expect(started.entries.filter(({ event }) => event === 'request').length).toBe(4 * 12 * 6 + 1)
    expect(findSecrets(secrets, started.entries.map(print).join('\n'))).toEqual([])
  })

  test('is in what a WebSocket gets, in its close reason or in its log entries', async () => {
    const own = await startGateway({ testnet: [upstream.url.replace('//', '//upstreamuser:upstreampassword@')] })
    onTestFinished(() => own.gateway.close({ graceMs: 0 }))
    const unknownKey = createApiKey('testnet')
    const keys = [own.app, own.testnetKey, own.mainnetKey, own.revokedKey, own.expiredKey, unknownKey]
    const host = new URL(upstream.url).host
    const secrets = [...keys, ...keys.map(hashApiKey), upstreamToken, 'upstreamuser', 'upstreampassword', host]
    upstream.behave = (seen) =>
      `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":${JSON.stringify(`at ${upstream.url}`)}}}`
    const texts: string[] = []
    for (const path of [
      `/testnet/${own.mainnetKey}`,
      `/mainnet/${own.testnetKey}`,
      `/testnet/${own.app}`,
      `/testnet/${own.revokedKey}`,
      `/testnet/${own.expiredKey}`,
      `/testnet/${unknownKey}`,
    ]) {
      const { headers, text } = await rejectSocket(`${own.url}${path}?key=${own.app}`)
      texts.push(print(headers), text)
    }
    const socket = await openSocket(`${own.url}/testnet/${own.testnetKey}?key=${own.app}`)
    for (const body of [
      '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}',
      '[{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}]',
      `{"jsonrpc":"2.0","id":1,"method":"nope","params":["${own.testnetKey}"]}`,
      '{',
    ]) {
      socket.send(body)
      texts.push(JSON.stringify(await socket.next()))
    }
    own.keys.add(own.testnetKey, { id: 'key-t', kind: 'apiKey', networks: ['testnet'], status: 'revoked' })
    texts.push(JSON.stringify(await socket.closed))
    await expect.poll(() => own.entries.at(-1)).toMatchObject({ event: 'webSocket', reason: 'key_revoked' })
    expect(texts.length).toBe(6 * 2 + 4 + 1)
    expect(findSecrets(secrets, [...texts, ...own.entries.map(print)].join('\n'))).toEqual([])
  })

  test('the search finds a secret', () => {
    const key = createApiKey('app')
    for (const text of [key, `x${Buffer.from(key).toString('base64')}`, print({ a: [{ key }] })])
      expect(findSecrets([key], text)).not.toEqual([])
  })

  test("the rest of a node's error is not changed, and results are not changed at all", async () => {
    upstream.behave = (seen) =>
      `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":"see ${upstreamToken}, é"}}`
    const rpcUrl = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call"}'
    expect((await post(rpcUrl, body)).text).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"see ***, é"}}',
    )
    upstream.behave = (seen) => result(seen, `"${upstreamToken}"`)
    expect((await post(rpcUrl, body)).text).toBe(`{"jsonrpc":"2.0","id":1,"result":"${upstreamToken}"}`)
  })

  test("no part of a node's key is in its error, in any spelling; a result is not changed", async () => {
    // Without the short timeout of the others, so that no timeout of the gateway can interfere.
    const patient = await startGateway({ testnet: [upstream.url.replace('//', '//upstreamuser:upstreampassword@')] })
    onTestFinished(() => patient.gateway.close({ graceMs: 0 }))
    const rpcUrl = getApiKeyUrl(patient.url, 'testnet', patient.testnetKey)
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call"}'
    const secrets = [upstreamToken, 'another-secret-value', 'upstreampassword']
    for (const [name, spell] of Object.entries(secretSpellings))
      for (const secret of secrets) {
        const text = JSON.stringify(`<${spell(secret)}>`)
        upstream.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":${text}}}`
        for (const sent of [body, `[${body},${body}]`]) {
          const response = await post(rpcUrl, sent)
          expect([name, readableRuns(response.text, secret)]).toEqual([name, []])
          expect(response.text).toContain('"message":"<')
        }
        upstream.behave = (seen) => result(seen, text)
        expect((await post(rpcUrl, body)).text).toBe(`{"jsonrpc":"2.0","id":1,"result":${text}}`)
      }
  })

  test('is in the gateway when it is print', () => {
    expect(findSecrets([upstreamToken, started.testnetKey], print(started.gateway))).toEqual([])
  })
})
