import type { AllowTypeName } from '@keyrail/gateway'

/** A type of allow list entry, as the page explains it. */
export interface AllowType {
  readonly id: AllowTypeName
  readonly one: string
  readonly example: string
  readonly hint: string
  /** What the app accepts without entries of this type. */
  readonly open: string
}

/** The types of allow list entries. */
export const allowTypes: readonly AllowType[] = [
  {
    id: 'origin',
    one: 'Origin',
    example: 'https://app.example.com',
    hint: 'The origins of pages that may call. https://*.example.com matches all its subdomains. If you list one, calls without an Origin header (servers, curl) are rejected.',
    open: 'the app accepts calls from every website, and from programs that send no Origin header',
  },
  {
    id: 'ip',
    one: 'IP address',
    example: '203.0.113.0/24',
    hint: 'The IP addresses of callers: single addresses or ranges, IPv4 or IPv6.',
    open: 'the app accepts calls from every IP address',
  },
  {
    id: 'method',
    one: 'Method',
    example: 'eth_call',
    hint: 'The methods that callers may use. eth_* matches every method that starts with eth_.',
    open: 'the app accepts calls to every method',
  },
  {
    id: 'address',
    one: 'Contract address',
    example: '0x…',
    hint: 'The contracts and accounts that calls may read or change.',
    open: 'the app accepts calls about every contract and account',
  },
  {
    id: 'userAgent',
    one: 'User agent',
    example: 'MyWallet/',
    hint: 'A part of the caller’s User-Agent header. Any client can send any value, so this does not protect the key.',
    open: 'the app accepts calls from every user agent',
  },
]
