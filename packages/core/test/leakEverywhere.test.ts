import { channel } from 'node:diagnostics_channel'
import { afterEach, expect, test } from 'vitest'
import { findLeaks, reachableStrings } from './leakWalk.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions } from './fullTransport.ts'

const keys = [
  'kr_aFirstKeyOfOne0123456789abcdef',
  'kr_bSecondKeyOfTwo9876543210fedcba',
  'eyJhbGciOi.JUSTATOKEN.0123456789',
]
const [one, two, token] = keys as [string, string, string]

const names = ['request', 'attempt', 'retry', 'reroute', 'response', 'failure'].map((name) => `keyrail:${name}`)
const published: unknown[] = []
const listener = (event: unknown): void => void published.push(event)
afterEach(() => {
  for (const name of names) channel(name).unsubscribe(listener)
})

/** A response that repeats the request: as it was sent, with escapes, and as a member name. */
const echo = (url: string, init: RequestInit): string => {
  const sent = `${url} ${JSON.stringify(init.headers)}`
  const escaped = [...sent].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')
  const unicode = [...sent].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  return `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":${JSON.stringify(sent + escaped)},"data":{${JSON.stringify(sent)}:"${unicode}","deep":[[${JSON.stringify(sent)}]]}}}`
}

const nodes: Record<string, (url: string, init: RequestInit) => Promise<Response>> = {
  'repeats the request in an error': async (url, init) => new Response(echo(url, init), { status: 403 }),
  'repeats the request with status 200': async (url, init) => new Response(echo(url, init)),
  'repeats the request in an HTML page': async (url, init) =>
    new Response(`<title>${url} ${JSON.stringify(init.headers)}</title>`, { status: 502 }),
  'redirects to the same URL': async (url) => new Response('', { status: 307, headers: { location: url } }),
  'repeats the URL in headers': async (url) =>
    new Response('', { status: 503, headers: { 'retry-after': url, date: url, 'x-chain-id': url } }),
  'fails with an error that repeats the request': async (url, init) => {
    throw Object.assign(new TypeError(`cannot fetch ${url} ${JSON.stringify(init.headers)}`), { url, init })
  },
}

test.each(Object.keys(nodes))('no key or token is visible if a node %s', async (name) => {
  const seen: unknown[] = []
  const hook = (event: unknown): void => void seen.push(event)
  for (const each of names) channel(each).subscribe(listener)
  const transport = createFullTransport({
    endpoints: [
      { baseUrl: 'https://one.example', apiKey: async () => one, name: 'first' },
      { url: `https://user:${two}@two.example/rpc/${two}?key=${two}`, jwt: token, weight: 0 },
    ],
    fetch: nodes[name],
    batch: true,
    retry: { retries: 1, baseMs: 1 },
    hooks: { onRequest: hook, onAttempt: hook, onRetry: hook, onReroute: hook, onResponse: hook, onFailure: hook },
  } as unknown as FullOptions)
  const group = transport.group()
  const calls = [{ method: 'eth_gasPrice' }, { method: 'eth_sendTransaction' }, { method: 'eth_getLogs' }]
  const ends = await Promise.all([
    ...calls.map((args) => transport.request(args).catch((error: unknown) => error)),
    transport.batch(calls as never),
    group.batch(calls as never),
    transport.chainId().catch((error: unknown) => error),
  ])
  transport.close()
  expect(published.length).toBeGreaterThan(20)
  const all = [ends, transport, group, transport.stats(), seen, published.splice(0)]
  expect(reachableStrings(all).length).toBeGreaterThan(100)
  expect(seen.length).toBeGreaterThan(20)
  expect(findLeaks(all, ...keys)).toEqual([])
})
