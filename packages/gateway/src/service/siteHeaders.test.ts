import { expect, test } from 'vitest'
import { siteHeaders } from './siteHeaders.ts'

test('Strict-Transport-Security is only sent if it is set', () => {
  expect(siteHeaders({ strictTransportSecurity: 'max-age=31536000' })).toHaveProperty(
    'Strict-Transport-Security',
    'max-age=31536000',
  )
  expect(siteHeaders()).not.toHaveProperty('Strict-Transport-Security')
})
