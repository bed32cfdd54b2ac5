import { expect, test } from 'vitest'
import { readInvite } from './readInvite.ts'

test('an invite is read with the email address that it names, or without one', () => {
  expect(readInvite('kri_abc&email=grace&co@example.org')).toEqual({ invite: 'kri_abc', email: 'grace&co@example.org' })
  expect(readInvite('kri_abc')).toEqual({ invite: 'kri_abc', email: '' })
  expect(readInvite('')).toEqual({ invite: '', email: '' })
})
