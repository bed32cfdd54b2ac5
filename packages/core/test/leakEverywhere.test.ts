import { channel } from 'node:diagnostics_channel'
import { afterEach, expect, test } from 'vitest'
import { leaksOf, reachableStrings } from './leakWalk.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions } from './fullTransport.ts'

const keys = [
  'kr_aFirstKeyOfOne0123456789abcdef',
  'kr_bSecondKeyOfTwo9876543210fedcba',
  'eyJhbGciOi.JUSTATOKEN.0123456789',
]
const [one, two, token] = keys as [string, string, string]

const names = ['request', 'attempt', 'retry', 'reroute', 'response', 'failure'].map((name) => `keyrail:${name}`)
const told: unknown[] = []
const listener = (event: unknown): void => void told.push(event)
afterEach(() => {
  for (const name of names) channel(name).unsubscribe(listener)
})

/** Shows whoever reads the failure all that it was sent, as itself, with escapes, and in a place of its own. */
const echo = (url: string, init: RequestInit): string => {
  const sent = `${url} ${JSON.stringify(init.headers)}`
  const escaped = [...sent].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')
  const unicode = [...sent].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  return `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":${JSON.stringify(sent + escaped)},"data":{${JSON.stringify(sent)}:"${unicode}","deep":[[${JSON.stringify(sent)}]]}}}`
}

const nodes: Record<string, (url: string, init: RequestInit) => Promise<Response>> = {
  'answers with all that it was sent': async (url, init) => new Response(echo(url, init), { status: 403 }),
  'answers so under a good status': async (url, init) => new Response(echo(url, init)),
  'sends a page of it': async (url, init) =>
    new Response(`<title>${url} ${JSON.stringify(init.headers)}</title>`, { status: 502 }),
  'sends it on': async (url) => new Response('', { status: 307, headers: { location: url } }),
  'asks to wait by it': async (url) =>
    new Response('', { status: 503, headers: { 'retry-after': url, date: url, 'x-chain-id': url } }),
  'breaks with it': async (url, init) => {
    throw Object.assign(new TypeError(`cannot fetch ${url} ${JSON.stringify(init.headers)}`), { url, init })
  },
}

test.each(Object.keys(nodes))('nothing tells a key or token where a node %s', async (name) => {
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
  expect(told.length).toBeGreaterThan(20)
  const all = [ends, transport, group, transport.stats(), seen, told.splice(0)]
  expect(reachableStrings(all).length).toBeGreaterThan(100)
  expect(seen.length).toBeGreaterThan(20)
  expect(leaksOf(all, ...keys)).toEqual([])
})
