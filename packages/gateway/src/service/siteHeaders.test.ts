import { expect, test } from 'vitest'
import { siteHeaders } from './siteHeaders.ts'

test('browsers are told to keep to https where the site is reached so, and only there', () => {
  expect(siteHeaders({ strictTransportSecurity: 'max-age=31536000' })).toHaveProperty(
    'Strict-Transport-Security',
    'max-age=31536000',
  )
  expect(siteHeaders()).not.toHaveProperty('Strict-Transport-Security')
})
