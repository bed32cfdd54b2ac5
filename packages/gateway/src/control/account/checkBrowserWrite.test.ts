import { describe, expect, test } from 'vitest'
import { checkBrowserWrite } from './checkBrowserWrite.ts'

const publicOrigin = 'https://node.example'
const json = 'application/json'

const check = (headers: Record<string, string>) =>
  checkBrowserWrite(new Headers(headers), publicOrigin)?.code ?? 'allowed'

describe('checkBrowserWrite', () => {
  test.each<[expected: string, Record<string, string>]>([
    ['allowed', { origin: publicOrigin, 'content-type': json }],
    ['allowed', { origin: publicOrigin, 'sec-fetch-site': 'same-origin', 'content-type': json }],
    ['allowed', { 'sec-fetch-site': 'same-origin', 'content-type': 'Application/JSON; charset=utf-8' }],
    ['cross_site', { 'content-type': json }],
    ['cross_site', { origin: '', 'content-type': json }],
    ['cross_site', { origin: 'null', 'content-type': json }],
    ['cross_site', { origin: 'https://evil.example', 'content-type': json }],
    ['cross_site', { origin: 'http://node.example', 'content-type': json }],
    ['cross_site', { origin: 'https://node.example:8443', 'content-type': json }],
    ['cross_site', { origin: 'https://node.example.evil.example', 'content-type': json }],
    ['cross_site', { origin: 'https://node.example, https://evil.example', 'content-type': json }],
    ['cross_site', { 'sec-fetch-site': 'same-site', 'content-type': json }],
    ['cross_site', { 'sec-fetch-site': 'cross-site', 'content-type': json }],
    ['cross_site', { 'sec-fetch-site': 'none', 'content-type': json }],
    ['cross_site', { origin: publicOrigin, 'sec-fetch-site': 'cross-site', 'content-type': json }],
    ['cross_site', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin', 'content-type': json }],
    ['not_json', { origin: publicOrigin }],
    ['not_json', { origin: publicOrigin, 'content-type': 'text/plain' }],
    ['not_json', { origin: publicOrigin, 'content-type': 'text/plain; application/json' }],
    ['not_json', { origin: publicOrigin, 'content-type': 'application/json-rpc' }],
    ['not_json', { origin: publicOrigin, 'content-type': 'application/x-www-form-urlencoded' }],
    ['not_json', { origin: publicOrigin, 'content-type': 'multipart/form-data' }],
  ])('%s: %j', (expected, headers) => {
    expect(check(headers)).toBe(expected)
  })

  test('sets the status', () => {
    expect(checkBrowserWrite(new Headers(), publicOrigin)?.status).toBe(403)
    expect(checkBrowserWrite(new Headers({ origin: publicOrigin }), publicOrigin)?.status).toBe(415)
  })
})
