import { batch, budget, cache, createTransport, failover, hooks, isKeyrailError, safeWrites } from '@keyrail/core'
import { describe, expect, test } from 'vitest'
import { breaker } from '../src/transport/breaker.ts'
import { compose, deadline } from './layers.ts'
import { http } from '../src/transport/endpoint/http.ts'
import { retry } from '../src/transport/retry.ts'
import { resolveTransport } from '../src/transport/resolveTransport.ts'

const url = 'http://127.0.0.1:1'
const key = 'kr_a7Hq2mZ9xT4vB6nR1cW8yL3pD5sF0gJkQeUi1a2B'

const getMessage = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    expect(isKeyrailError(error, 'invalidRequest')).toBe(true)
    const { message } = error as Error
    for (let at = 0; at + 8 <= key.length; at++) expect(message).not.toContain(key.slice(at, at + 8))
    return message
  }
  throw new Error('nothing was thrown')
}
const make = (options: unknown): unknown => createTransport(options as never)

describe('an unknown option', () => {
  test.each([
    ['timeout', 'timeoutMs'],
    ['timeOutMs', 'timeoutMs'],
    ['timeoutMS', 'timeoutMs'],
    ['tiemoutMs', 'timeoutMs'],
    ['timeoutMillis', 'timeoutMs'],
    ['retries', 'retry'],
    ['retryCount', 'retry'],
    ['baseURL', 'baseUrl'],
    ['base_url', 'baseUrl'],
    ['apikey', 'apiKey'],
    ['api_key', 'apiKey'],
    ['endpoint', 'endpoints'],
    ['urls', 'url'],
    ['uri', 'url'],
    ['chainID', 'chainId'],
    ['batches', 'batch'],
    ['batchSize', 'batch'],
    ['caching', 'cache'],
    ['trace', 'tracing'],
    ['hook', 'hooks'],
    ['safeWrite', 'safeWrites'],
    ['stat', 'stats'],
    ['maxInflight', 'maxInFlight'],
    ['layer', 'layers'],
  ])('%s of a transport: did you mean %s', (wrong, right) => {
    expect(getMessage(() => make({ url, [wrong]: 5 }))).toBe(`Unknown option "${wrong}". Did you mean "${right}"?`)
  })

  test.each(['foo', 'x', 'cookies', 'concurrency', 'interval', 'quorum', 'ws', ''])(
    '%j is near none, so all are listed',
    (wrong) => {
      const message = getMessage(() => make({ url, [wrong]: 5 }))
      expect(message).toMatch(`Unknown option "${wrong}". The options of createTransport are url, baseUrl, `)
      expect(message).toContain('timeoutMs')
    },
  )

  const layers: readonly (readonly [string, (options: object) => unknown, string, string])[] = [
    ['deadline', deadline, 'timeout', 'timeoutMs'],
    ['retry', retry, 'retires', 'retries'],
    ['batch', batch, 'maxCall', 'maxCalls'],
    ['budget', budget, 'requestPerSecond', 'requestsPerSecond'],
    ['breaker', breaker, 'failure', 'failures'],
    ['cache', cache, 'maxByte', 'maxBytes'],
    ['safeWrites', (options) => safeWrites(options as never), 'resend', 'resends'],
    ['hooks', (given) => hooks(given), 'onEror', 'onAttempt'],
    ['failover', (options) => failover([{ url }], options), 'hedging', 'hedge'],
    ['hedge', (hedge) => failover([{ url }], { hedge }), 'percentil', 'percentile'],
    ['an endpoint', (options) => failover([{ url, ...options }]), 'wieght', 'weight'],
  ]
  test.each(layers.filter(([name]) => name !== 'hooks'))(
    'of %s: the message suggests the nearest name',
    (_, build, wrong, right) => {
      expect(getMessage(() => build({ [wrong]: key }))).toBe(`Unknown option "${wrong}". Did you mean "${right}"?`)
    },
  )

  test.each(layers)('of %s without a near name: the message lists all names', (name, build) => {
    expect(getMessage(() => build({ zzz: key }))).toMatch(`Unknown option "zzz". The options of ${name} are `)
  })

  test('of a call: the message suggests the nearest name', async () => {
    const transport = compose(http({ url }), deadline())
    const call = (options: object): Promise<unknown> => transport.request({ method: 'eth_chainId' }, options)
    await expect(call({ timeout: 5 })).rejects.toThrow('Unknown option "timeout". Did you mean "timeoutMs"?')
    await expect(call({ abort: 5 })).rejects.toThrow('Unknown option "abort". The options of a call are signal, ')
    transport.close()
  })

  test('is not repeated if its name could be a secret', () => {
    expect(getMessage(() => make({ url, [key]: true }))).toMatch(
      'Unknown option "…". The options of createTransport are ',
    )
    expect(getMessage(() => make({ url, [`https://node.example/${key}`]: true }))).toMatch('Unknown option "…". The ')
  })
})

describe('a value that is not an object of options', () => {
  test.each([
    ['a string', `https://node.example/v2/${key}`],
    ['a number', 8545],
    ['an array', [{ url }]],
    ['a function', () => url],
    ['null', null],
    ['undefined', undefined],
    ['true', true],
  ])('%s is named by its type', (kind, given) => {
    const shown = kind === 'true' ? 'a boolean' : kind
    const example = `such as { url: 'http://127.0.0.1:8545' }, not ${shown}`
    expect(getMessage(() => make(given))).toBe(`createTransport takes an object of options, ${example}`)
    expect(getMessage(() => resolveTransport(given as never, undefined, 'createClient'))).toBe(
      `createClient takes an object of options or a transport, ${example}`,
    )
    if (given !== undefined)
      expect(getMessage(() => deadline(given as never))).toBe(`deadline takes an object of options, not ${shown}`)
  })

  test('an adapter that gets an unknown option lists the options under its own name', () => {
    expect(getMessage(() => resolveTransport({ url, zzz: 5 } as never, undefined, 'createClient'))).toMatch(
      'Unknown option "zzz". The options of createClient are url, ',
    )
  })
})

describe('an invalid URL', () => {
  const onlyHttp = 'which is not supported. Use https:// or http://.'
  const empty = 'is empty. If it comes from an environment variable, check that it is set.'
  const noScheme = 'has no scheme. Start it with https:// or http://.'
  const credentials = 'contains credentials (user:password@). Remove them, or pass the full URL as url.'
  const query = 'contains a query (?…). Remove it, or pass the full URL as url.'
  const broken = 'is not a valid URL. Check its host, port and credentials; it should look like https://host/path.'
  test.each<[given: unknown, problem: string]>([
    ['', empty],
    ['  \n', empty],
    ['ws://node.example', `starts with ws://, ${onlyHttp}`],
    ['wss://node.example', `starts with wss://, ${onlyHttp}`],
    ['WSS://node.example', `starts with WSS://, ${onlyHttp}`],
    ['ftp://node.example', `starts with ftp://, ${onlyHttp}`],
    ['file:///tmp/geth.ipc', `starts with file://, ${onlyHttp}`],
    ['localhost:8545', noScheme],
    ['127.0.0.1:8545', noScheme],
    ['[::1]:8545', noScheme],
    [`node.example/v2/${key}`, noScheme],
    ['//node.example', noScheme],
    ['/tmp/geth.ipc', noScheme],
    ['http:/node.example', noScheme],
    ['http:node.example', noScheme],
    [key, noScheme],
    [`${key}://node.example`, noScheme],
    ['https://node.example /testnet', 'contains white space. Copy it again.'],
    [' https://node.example', 'contains white space. Copy it again.'],
    ['https://node.example\n', 'contains white space. Copy it again.'],
    [8545, 'must be a string such as https://host/path, not a number.'],
    [null, 'must be a string such as https://host/path, not null.'],
    [new URL('https://node.example'), 'must be a string such as https://host/path, not an object.'],
    ['https://', broken],
    ['https://node.example:port', broken],
    [`https://user:p@${key}@node.example`, broken],
    [`https://node.example\\${key}`, broken],
    ['http://http://node.example', broken],
  ])('%j: the message says what is wrong', (given, problem) => {
    expect(getMessage(() => make({ url: given }))).toBe(`url ${problem}`)
    for (const name of ['baseUrl', 'rpcUrl'])
      expect(getMessage(() => make({ [name]: given, apiKey: 'kr_t0' }))).toBe(`${name} ${problem}`)
    expect(getMessage(() => http({ url: given } as never))).toBe(`url ${problem}`)
    expect(getMessage(() => make({ endpoints: failover([{ url }, { url: given }] as never) }))).toBe(`url ${problem}`)
  })

  test.each([
    ['https://node.example/', 'ends with "/". Remove the slash.'],
    ['https://node.example/testnet//', 'ends with "/". Remove the slash.'],
    ['https://node.example?a=b', query],
    ['https://node.example/x?', query],
    [`https://node.example/x?key=${key}/`, query],
    ['https://node.example/x#y', 'contains a fragment (#…). Remove it.'],
    [`https://user:${key}@node.example`, credentials],
    [`https://user:${key}@node.example/?a=b`, credentials],
  ])('%s has its own message as a base URL, and is accepted as a full URL', (given, problem) => {
    for (const name of ['baseUrl', 'rpcUrl'])
      expect(getMessage(() => make({ [name]: given, apiKey: 'kr_t0' }))).toBe(`${name} ${problem}`)
    createTransport({ url: given }).close()
  })

  test.each([
    [{ baseUrl: `https://node.example/testnet/v2/${key}` }],
    [{ baseUrl: 'https://node.example/testnet/v2/kr_aKEY', apiKey: 'kr_aKEY' }],
    [{ baseUrl: 'https://node.example/testnet/v2/kr_aKEY', apiKey: 'kr_aOTHER' }],
    [{ rpcUrl: 'https://node.example/testnet/kr_mKEY' }],
    [{ rpcUrl: `https://mainnet.provider.example/v3/${'0123456789abcdef'.repeat(2)}` }],
  ])('a full URL in a base URL is to be passed as url: %j', (options) => {
    const [name] = Object.keys(options)
    expect(getMessage(() => make(options))).toBe(
      `${name} ends with a key, so it is a full URL. Pass it as url, without apiKey.`,
    )
  })

  test('an object in place of a URL is read as a record of networks', () => {
    const baseUrl = { href: 'https://node.example' }
    expect(getMessage(() => make({ url: baseUrl }))).toBe(
      'url must be a string such as https://host/path, not an object.',
    )
    expect(getMessage(() => make({ baseUrl, apiKey: 'kr_t0' }))).toBe(
      'baseUrl is a record of networks. Pass network, one of href.',
    )
  })

  test('the message for a record without the network names the network', () => {
    const baseUrl = { testnet: 'https://node.example' }
    expect(getMessage(() => make({ baseUrl, network: 'mainnet', apiKey: 'kr_m0' }))).toBe(
      'Unknown network "mainnet". baseUrl has testnet.',
    )
  })

  test('the message for a key without a URL names the options that belong together', () => {
    expect(getMessage(() => make({ apiKey: key }))).toContain(
      'The URL is missing. Pass url, or baseUrl or rpcUrl with apiKey.',
    )
  })
})
