import { expect, test } from 'vitest'
import { actionText, detailText, kindText, recordText } from './auditWords.ts'
import { momentText } from './times.ts'

const time = '2026-11-22T10:00:00.000Z'

test('the audit log describes actions and their subjects', () => {
  expect(actionText('key.dropOld')).toBe('Deactivated the old key')
  expect(actionText('something.new')).toBe('something.new')
  expect(kindText('app_0123')).toBe('App')
  expect(kindText('nothing')).toBeUndefined()
  expect(recordText('usr_1', 'ada@example.org')).toBe('ada@example.org')
  expect(recordText('usr_1', null)).toBe('Account')
  expect(recordText('nobody', null)).toBe('Nobody logged in')
})

test('its details are shown as times, words and lists, without empty values', () => {
  expect(detailText({ graceDays: 1, expiresAt: Date.parse(time), label: '', email: null })).toBe(
    `grace days: 1, expires at: ${momentText(time)}`,
  )
  expect(detailText({ expiresAt: time })).toBe(`expires at: ${momentText(time)}`)
  expect(detailText({ name: 'Year 2026', requireJwt: true, services: [], limits: { perDay: 5 } })).toBe(
    'name: Year 2026, require jwt: yes, services: none, limits: per day: 5',
  )
  expect(detailText({ jwt: { audience: 'wallet', maxLifetimeS: 5_400 } })).toBe(
    'jwt: audience: wallet, max lifetime: 1 hour 30 minutes',
  )
  expect(detailText({ scopes: ['read', 'apps:write'] })).toBe('scopes: read, apps:write')
})
