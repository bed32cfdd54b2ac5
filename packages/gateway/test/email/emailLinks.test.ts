import { beforeEach, describe, expect, test } from 'vitest'
import type { Storage } from '../../src/storage/openStorage.ts'
import { expectOk, newEmail, newIp, password } from '../account/accountFixture.ts'
import type { AccountFixture } from '../account/accountFixture.ts'
import { createFactorFixture } from '../account/factorFixture.ts'
import { databasesAndFactors } from '../account/factorKinds.ts'
import { createInbox, readLink } from './inbox.ts'
import type { Inbox } from './inbox.ts'
import { useStorage } from '../storage/useStorage.ts'

const hour = 60 * 60_000
const next = 'another long password'

describe.each(databasesAndFactors)('email links on $name', ({ database, factor }) => {
  let storage: Storage
  let fixture: AccountFixture
  let inbox: Inbox
  useStorage(database, (opened) => (storage = opened))
  beforeEach(() => {
    inbox = createInbox()
    fixture = createFactorFixture(factor, storage, { mailer: inbox.mailer })
  })

  /** Signs up by email. */
  const signUp = async (email = newEmail()) => {
    const { accounts } = fixture
    expect(await accounts.requestSignUp({ email, ip: newIp() })).toBe(true)
    const { secret } = readLink(await inbox.next())
    return { email, ...expectOk(await accounts.signUp({ email, password, link: secret, ip: newIp() })) }
  }
  const listActions = async (userId: string): Promise<readonly string[]> =>
    (await storage.auditLog.list({ userId, limit: 50 }))
      .map(({ action }) => action)
      .filter((action) => action !== 'factor.add' && action !== 'account.logInPending')
      .toReversed()

  describe('sign-up', () => {
    test('needs a link to the address, which works once and verifies the address', async () => {
      const { accounts, clock } = fixture
      const email = newEmail()
      const request = { email, password, ip: newIp() }
      expect(await accounts.signUp(request)).toMatchObject({ status: 403, code: 'email_unverified' })
      expect(await accounts.requestSignUp({ email: ` ${email}`, ip: newIp() })).toBe(true)
      const message = await inbox.next()
      expect(message).toMatchObject({ to: email, subject: 'Confirm your email address for rpc.example.org' })
      const { url, secret } = readLink(message)
      expect(url).toBe(`https://rpc.example.org/sign-up#${secret}&email=${encodeURIComponent(email)}`)
      expect(await accounts.signUp({ ...request, email: newEmail(), link: secret })).toMatchObject({
        code: 'link_invalid',
      })
      const { viewer } = expectOk(await accounts.signUp({ ...request, link: secret }))
      expect(viewer.user).toMatchObject({ email, emailVerifiedAt: clock.now })
      expect(await accounts.signUp({ ...request, link: secret })).toMatchObject({ code: 'link_invalid' })
    })

    test('a link expires after an hour, and an earlier one when another one is sent', async () => {
      const { accounts, clock } = fixture
      const email = newEmail()
      const request = { email, password, ip: newIp() }
      await accounts.requestSignUp(request)
      await accounts.requestSignUp(request)
      const [first, second] = [readLink(await inbox.next()), readLink(await inbox.next())]
      expect(await accounts.signUp({ ...request, link: first.secret })).toMatchObject({ code: 'link_invalid' })
      clock.now += hour
      expect(await accounts.signUp({ ...request, link: second.secret })).toMatchObject({ code: 'link_invalid' })
    })

    test('a taken address gets the same response, and another email', async () => {
      const { email } = await signUp()
      const { accounts } = fixture
      expect(await accounts.requestSignUp({ email: email.toUpperCase(), ip: newIp() })).toBe(true)
      const message = await inbox.next()
      expect(message.subject).toBe('You already have an account at rpc.example.org')
      expect(readLink(message).page).toBe('/log-in')
      // Without a link, the response does not depend on the address either.
      const codes = await Promise.all(
        [email, newEmail()].map((one) => accounts.signUp({ email: one, password, ip: newIp() })),
      )
      expect(codes).toEqual([codes[0], codes[0]])
    })

    test('an invite that was sent proves the address; one that was handed over does not', async () => {
      const { accounts, mode } = fixture
      mode.signUp = 'invite'
      const email = newEmail()
      const sent = expectOk(await accounts.operator.inviteUser({ email, send: true }))
      const message = await inbox.next()
      expect(message).toMatchObject({ to: email, subject: 'You are invited to rpc.example.org' })
      expect(readLink(message).secret).toBe(sent.text)
      const { viewer } = expectOk(await accounts.signUp({ email, password, invite: sent.text, ip: newIp() }))
      expect(viewer.user.emailVerifiedAt).not.toBeNull()

      const other = { email: newEmail(), ip: newIp() }
      const { text: invite } = expectOk(await accounts.operator.inviteUser({ email: other.email }))
      expect(await accounts.requestSignUp(other)).toMatchObject({ code: 'invite_required' })
      expect(await accounts.signUp({ ...other, password, invite })).toMatchObject({ code: 'email_unverified' })
      expect(await accounts.requestSignUp({ ...other, invite })).toBe(true)
      const { fragment, secret } = readLink(await inbox.next())
      expect(fragment).toBe(`${secret}&invite=${invite}&email=${encodeURIComponent(other.email)}`)
      expectOk(await accounts.signUp({ ...other, password, invite, link: secret }))
    })

    test('does not change if the service sends no emails', async () => {
      inbox.isOn = false
      const { accounts } = fixture
      const { viewer } = await fixture.signUp()
      expect(viewer.user.emailVerifiedAt).toBeNull()
      const request = { email: newEmail(), ip: newIp() }
      const disabled = { status: 409, code: 'mail_disabled' }
      expect(await accounts.requestSignUp(request)).toMatchObject(disabled)
      expect(await accounts.forgotPassword(request)).toMatchObject(disabled)
      expect(await accounts.requestEmail({ ...request, viewer })).toMatchObject(disabled)
      expect(await accounts.operator.inviteUser({ email: newEmail(), send: true })).toMatchObject(disabled)
    })
  })

  describe('a forgotten password', () => {
    test('is reset with a link that works once, within an hour, and the owner is notified', async () => {
      const { accounts, clock } = fixture
      const { email, token, viewer } = await signUp()
      expect(await accounts.forgotPassword({ email: email.toUpperCase(), ip: newIp() })).toBe(true)
      const message = await inbox.next()
      expect(message).toMatchObject({ to: email, subject: 'Set a new password for rpc.example.org' })
      const { page, secret } = readLink(message)
      expect(page).toBe('/reset-password')
      const request = { link: secret, password: next, ip: newIp() }
      expectOk(await accounts.resetPassword(request))
      expect((await inbox.next()).subject).toBe('Your password for rpc.example.org was changed')
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await accounts.resetPassword(request)).toMatchObject({ code: 'link_invalid' })
      expect(await listActions(viewer.user.id)).toEqual([
        'account.signUp',
        'account.forgotPassword',
        'account.resetPassword',
        // The second step.
        ...(factor === 'no factor' ? [] : ['account.logIn']),
      ])
      await accounts.forgotPassword({ email, ip: newIp() })
      const late = readLink(await inbox.next()).secret
      clock.now += hour
      expect(await accounts.resetPassword({ ...request, link: late })).toMatchObject({ code: 'link_invalid' })
    })

    test('an unknown address and a disabled account get the same response and no email', async () => {
      const { accounts } = fixture
      const { email, viewer } = await signUp()
      expectOk(await accounts.operator.setUserState({ id: viewer.user.id, state: 'disabled' }))
      for (const one of [email, newEmail()])
        expect(await accounts.forgotPassword({ email: one, ip: newIp() })).toBe(true)
      await inbox.waitUntilSent()
      expect(inbox.emails).toEqual([])
    })

    test('looks nothing up before it returns', async () => {
      const { email } = await signUp()
      const findByEmail = storage.users.findByEmail.bind(storage.users)
      let lookUps = 0
      const watched = {
        ...storage,
        users: {
          ...storage.users,
          findByEmail: (one: string) => {
            lookUps += 1
            return findByEmail(one)
          },
        },
      }
      const { accounts } = createFactorFixture(factor, watched, { mailer: inbox.mailer })
      await accounts.forgotPassword({ email, ip: newIp() })
      await accounts.requestSignUp({ email, ip: newIp() })
      expect(lookUps).toBe(0)
      await inbox.waitUntilSent()
      expect(lookUps).toBe(2)
    })

    test('an address gets 3 emails at once, then one in 10 minutes; the response stays the same', async () => {
      const { accounts, clock } = fixture
      const { email } = await signUp()
      const request = async (): Promise<number> => {
        expect(await accounts.forgotPassword({ email, ip: newIp() })).toBe(true)
        await inbox.waitUntilSent()
        return inbox.emails.splice(0).length
      }
      // The link to sign up was the first.
      expect([await request(), await request(), await request()]).toEqual([1, 1, 0])
      clock.now += 10 * 60_000
      expect([await request(), await request()]).toEqual([1, 0])
    })

    test('an IP address can request 10 emails at once, for any address', async () => {
      const { accounts } = fixture
      const ip = newIp()
      for (let count = 0; count < 10; count += 1)
        expect(await accounts.forgotPassword({ email: newEmail(), ip })).toBe(true)
      expect(await accounts.requestSignUp({ email: newEmail(), ip })).toMatchObject({
        status: 429,
        code: 'too_many_tries',
      })
    })
  })

  describe('another email address', () => {
    test('is taken over once its owner opens the link in a session of the account; the old one is notified', async () => {
      const { accounts } = fixture
      const { email, viewer } = await signUp()
      const other = newEmail()
      expect(await accounts.requestEmail({ viewer, email: other, ip: newIp() })).toBe(true)
      const message = await inbox.next()
      expect(message.to).toBe(other)
      const { page, secret: link } = readLink(message)
      expect(page).toBe('/verify-email')
      const someoneElse = await signUp()
      expect(await accounts.verifyEmail({ viewer: someoneElse.viewer, link, ip: newIp() })).toMatchObject({
        code: 'link_invalid',
      })
      expect(await accounts.verifyEmail({ viewer, link, ip: newIp() })).toMatchObject({ email: other })
      const notice = await inbox.next()
      expect([notice.to, notice.subject]).toEqual([email, 'Your email address for rpc.example.org was changed'])
      expect(await accounts.verifyEmail({ viewer, link, ip: newIp() })).toMatchObject({ code: 'link_invalid' })
      expectOk(await accounts.logIn({ email: other, password, ip: newIp() }))
      expect(await accounts.logIn({ email, password, ip: newIp() })).toMatchObject({ code: 'wrong_credentials' })
      expect(await listActions(viewer.user.id)).toEqual([
        'account.signUp',
        'account.requestEmail',
        'account.changeEmail',
        'account.logIn',
      ])
    })

    test('the address that an account has is verified the same way', async () => {
      inbox.isOn = false
      const { viewer, email } = await fixture.signUp()
      inbox.isOn = true
      await fixture.accounts.requestEmail({ viewer, email, ip: newIp() })
      const { secret: link } = readLink(await inbox.next())
      expect(await fixture.accounts.verifyEmail({ viewer, link, ip: newIp() })).toMatchObject({
        email,
        emailVerifiedAt: fixture.clock.now,
      })
      await inbox.waitUntilSent()
      expect(inbox.emails).toEqual([])
    })

    test('a taken address gets the same response, and an email that says so', async () => {
      const { viewer } = await signUp()
      const { email } = await signUp()
      expect(await fixture.accounts.requestEmail({ viewer, email, ip: newIp() })).toBe(true)
      expect((await inbox.next()).subject).toBe('You already have an account at rpc.example.org')
    })

    test('an email address that another account has taken in the meantime stays with that account', async () => {
      const { viewer } = await signUp()
      const email = newEmail()
      await fixture.accounts.requestEmail({ viewer, email, ip: newIp() })
      const { secret: link } = readLink(await inbox.next())
      const { viewer: other } = await signUp(email)
      const verify = () => fixture.accounts.verifyEmail({ viewer, link, ip: newIp() })
      expect(await verify()).toMatchObject({ code: 'email_taken' })
      // The link was not used up.
      expect(await fixture.accounts.deleteAccount({ viewer: other, password })).toBe(true)
      expect(await verify()).toMatchObject({ email })
    })

    test('a new password ends a pending change, which an attacker may have asked for', async () => {
      const { accounts } = fixture
      const { viewer } = await signUp()
      const request = async (): Promise<string> => {
        await accounts.requestEmail({ viewer, email: newEmail(), ip: newIp() })
        return readLink(await inbox.next()).secret
      }
      const first = await request()
      expectOk(await accounts.changePassword({ viewer, current: password, next, ip: newIp() }))
      await inbox.next()
      expect(await accounts.verifyEmail({ viewer, link: first, ip: newIp() })).toMatchObject({ code: 'link_invalid' })
      const second = await request()
      const { text: link } = expectOk(await accounts.operator.resetLink({ id: viewer.user.id }))
      expectOk(await accounts.resetPassword({ link, password, ip: newIp() }))
      expect(await accounts.verifyEmail({ viewer, link: second, ip: newIp() })).toMatchObject({ code: 'link_invalid' })
    })
  })

  test('expired links are pruned', async () => {
    const { accounts, clock } = fixture
    const prune = async () => storage.emailLinks.prune({ now: clock.now, limit: 100 })
    // The links of the other tests.
    clock.now += hour
    await prune()
    await accounts.requestSignUp({ email: newEmail(), ip: newIp() })
    await inbox.waitUntilSent()
    expect(await prune()).toBe(0)
    clock.now += hour
    expect(await prune()).toBe(1)
  })
})
