import { expect, test } from 'vitest'
import { strictTransport } from './strictTransport.ts'

test.each([
  ['https://rpc.example.org', 'max-age=31536000'],
  ['https://rpc.example.org:8443/path', 'max-age=31536000'],
  ['http://rpc.example.org', undefined],
  ['https://localhost:8443', undefined],
  ['https://keyrail.localhost', undefined],
  ['https://127.0.0.1', undefined],
  ['https://[::1]:8443', undefined],
  ['https://localhost.example.org', 'max-age=31536000'],
])('Strict-Transport-Security for %s: %s', (publicUrl, header) => {
  expect(strictTransport(publicUrl)).toBe(header)
})
