import { expect, test } from 'vitest'
import { readInvite } from './readInvite.ts'

test('an invite is read with the email address that it names, or without one', () => {
  const email = 'grace&co@example.org'
  expect(readInvite(`kri_abc&email=${email}`)).toEqual({ invite: 'kri_abc', link: '', email })
  expect(readInvite('kri_abc')).toEqual({ invite: 'kri_abc', link: '', email: '' })
  expect(readInvite('')).toEqual({ invite: '', link: '', email: '' })
})

test('a link that confirms an email address is read, with its invite', () => {
  const email = 'grace&co@example.org'
  expect(readInvite(`kre_abc&email=${email}`)).toEqual({ invite: '', link: 'kre_abc', email })
  expect(readInvite(`kre_abc&invite=kri_abc&email=${email}`)).toEqual({ invite: 'kri_abc', link: 'kre_abc', email })
})
