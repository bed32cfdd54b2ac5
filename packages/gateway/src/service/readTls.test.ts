import { expect, test } from 'vitest'
import { getCertificateEnd } from './readTls.ts'

/** A certificate that ends on 2027-03-01T12:00:00Z. */
const cert = `
`

test('gets when the certificate ends', () => {
  expect(getCertificateEnd({ cert: Buffer.from(cert.trim()), key: Buffer.from('') })).toBe(Date.UTC(2027, 2, 1, 12))
  expect(getCertificateEnd(undefined)).toBeNull()
})
