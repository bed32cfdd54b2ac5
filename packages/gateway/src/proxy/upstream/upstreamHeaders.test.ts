import { describe, expect, test } from 'vitest'
import { findHeadersFault, getHeaderSecrets } from './upstreamHeaders.ts'

describe('findHeadersFault', () => {
  test.each<[fault: string | undefined, headers: Record<string, unknown>]>([
    [undefined, {}],
    [undefined, { authorization: 'Bearer abc', 'X-Team': 'wallet', 'user-agent': 'keyrail' }],
    ['must not have "content-type", which the gateway sets itself', { 'Content-Type': 'text/plain' }],
    ['must not have "host"', { host: 'other.example' }],
    ['must not have "content-length"', { 'content-length': '3' }],
    ['must not have "connection"', { Connection: 'close' }],
    ['must not have "transfer-encoding"', { 'transfer-encoding': 'chunked' }],
    ['must not have "accept-encoding"', { 'accept-encoding': 'br' }],
    ['has a name that is not the name of an HTTP header', { 'x key': 'a' }],
    ['has a name that is not the name of an HTTP header', { '': 'a' }],
    ['has "x-key" twice', { 'x-key': 'a', 'X-Key': 'b' }],
    ['has a wrong value for "x-key"', { 'x-key': 'a\r\nhost: b' }],
    ['has a wrong value for "x-key"', { 'x-key': '' }],
    ['has a wrong value for "x-key"', { 'x-key': ' a' }],
    ['has a wrong value for "x-key"', { 'x-key': 'ключ' }],
    ['has a wrong value for "x-key"', { 'x-key': 1 }],
    ['has a wrong value for a header (name hidden)', { sk1234567890secret: null }],
  ])('%s: %j', (fault, headers) => {
    const found = findHeadersFault(headers)
    if (fault === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(fault)
  })
})

test('the secrets of headers are values, tokens and Basic credentials', () => {
  const basic = `Basic ${Buffer.from('user:password1').toString('base64')}`
  expect(
    getHeaderSecrets({ authorization: 'Bearer abc.defg', 'x-key': 'k1', other: basic, file: { file: 'f' } }),
  ).toEqual(['abc.defg', 'k1', basic.slice(6), 'user:password1', 'user', 'password1'])
})
