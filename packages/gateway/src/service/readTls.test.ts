import { expect, test } from 'vitest'
import { getCertificateEnd } from './readTls.ts'

const cert = `-----BEGIN CERTIFICATE-----
MIIBiTCCAS+gAwIBAgIUW1J/OG3clC0VKAtu2a99ISstBLswCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPa2V5cmFpbC5leGFtcGxlMB4XDTI2MTEzMDE3MTIxMVoXDTI3
MTEzMDE3MTIxMVowGjEYMBYGA1UEAwwPa2V5cmFpbC5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEQ+VhPd3PSVKRbdqUKwfOfT0J65rIbphqR8VrTfMA
pqNAEtdEpSPulymERtRQsquVEEsXSLQ1IPfc8t46k20I/KNTMFEwHQYDVR0OBBYE
FLci1jaLVbx5LV0uyIqLjBYX9sbDMB8GA1UdIwQYMBaAFLci1jaLVbx5LV0uyIqL
jBYX9sbDMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgOctdPe4N
QZTk6N0h893eN7aS0E8/Ii6XWDuC3s8Mb7wCIQCoj1yMgw4klpANmcTic+w/Wu6+
Hc5RKwFC93QtbX1pRw==
-----END CERTIFICATE-----`

test('gets when the certificate ends', () => {
  expect(getCertificateEnd({ cert: Buffer.from(cert), key: Buffer.from('') })).toBe(Date.parse('2027-11-30T17:12:11Z'))
  expect(getCertificateEnd(undefined)).toBeNull()
})
