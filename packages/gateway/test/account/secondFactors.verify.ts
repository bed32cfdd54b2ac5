import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import { isAccountError } from '../../src/control/account/accountError.ts'
import type { AccountError } from '../../src/control/account/accountError.ts'
import type { LoggedIn, PendingLogIn } from '../../src/control/account/accounts.ts'
import type { Viewer } from '../../src/control/account/viewer.ts'
import type { FactorProof, NewFactorOptions, PasskeyOptions } from '../../src/control/account/factorProof.ts'
import { hashRecoveryCode } from '../../src/control/account/recoveryCodes.ts'
import { hashSecret } from '../../src/control/account/secretText.ts'
import { createSessionToken } from '../../src/control/account/sessionCookie.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { resealKeys } from '../../src/storage/resealKeys.ts'
import { createInbox } from '../email/inbox.ts'
import { databases } from '../storage/databases.ts'
import { createFixture, expectOk, newIp, password } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'
import { getAppCode, stepMs } from './appCode.ts'
import { attestAndroidKey, attestPacked } from './attestations.ts'
import { createSoftAuthenticator } from './softAuthenticator.ts'
import type { SoftAuthenticator } from './softAuthenticator.ts'
import { useStorage } from '../storage/useStorage.ts'

const site = 'https://node.example'
const minute = 60_000
const secret = createServerSecret(randomBytes(32).toString('hex'))
const secrets = [secret]

/** A code that is never right in these tests: no app shows it within the times around `timestamp`. */
const getWrongCode = (secret: string, timestamp: number): string => {
  const right = new Set([-2, -1, 0, 1, 2].map((step) => getAppCode(secret, timestamp + step * stepMs)))
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.has(code)) ?? ''
}

describe.each(databases)('second factors on $name', (database) => {
  let storage: Storage
  let fixture: AccountFixture
  const inbox = createInbox()
  useStorage(database, (opened) => (storage = opened))
  beforeEach(() => {
    inbox.isOn = true
    inbox.emails.length = 0
    fixture = createFixture(storage, { secrets, mailer: { ...inbox.mailer, isOn: () => false } })
  })

  const addApp = async (viewer: Viewer) => {
    const { accounts, clock } = fixture
    const { totp } = expectOk(await accounts.getNewFactorOptions({ viewer, site }))
    const code = getAppCode(totp.secret, clock.now)
    const request = { viewer, label: 'App', totp: { setup: totp.setup, code }, site, ip: newIp() }
    const { factor, recoveryCodes, newSession } = expectOk(await accounts.addFactor(request))
    // The code is used up.
    clock.now += stepMs
    return { secret: totp.secret, id: factor.id, codes: recoveryCodes ?? [], ...newSession }
  }
  const addPasskey = async (viewer: Viewer, device: SoftAuthenticator) => {
    const { passkey } = expectOk(await fixture.accounts.getNewFactorOptions({ viewer, site }))
    const request = { viewer, label: 'Phone', passkey: device.create(passkey), site, ip: newIp() }
    const { newSession, ...added } = expectOk(await fixture.accounts.addFactor(request))
    return { ...added, ...newSession }
  }
  /** The viewer of a session, as a request would see it now. */
  const read = async (token: string): Promise<Viewer> => expectOk(await fixture.accounts.authenticate(token))
  const signUp = async () => {
    const { token, email } = await fixture.signUp()
    return { token, email, viewer: await read(token) }
  }
  const expectPending = (result: LoggedIn | PendingLogIn | AccountError): string => {
    if (!('pending' in result)) throw new Error(`not pending: ${JSON.stringify(result)}`)
    return result.pending
  }
  const start = async (email: string): Promise<string> =>
    expectPending(await fixture.accounts.logIn({ email, password, ip: newIp() }))
  const finish = (pending: string, proof: FactorProof, ip = newIp()) =>
    fixture.accounts.finishLogIn({ pending, proof, site, ip })
  const listActions = async (userId: string): Promise<readonly string[]> =>
    (await storage.auditLog.list({ userId, limit: 50 })).map(({ action }) => action)
  const wrong = { status: 403, code: 'second_factor_wrong' }
  const expired = { status: 403, code: 'log_in_expired' }

  describe('log-in', () => {
    test('needs a code after the password, and each code works once', async () => {
      const { accounts, clock } = fixture
      const { email, viewer } = await signUp()
      const { secret } = await addApp(viewer)
      const pending = await start(email)
      expect(await accounts.authenticate(pending)).toBeUndefined()
      expect(await accounts.getLogInOptions({ pending, site })).toEqual({ kinds: ['totp'], passkey: null })
      expect(await finish(pending, { code: getWrongCode(secret, clock.now) })).toMatchObject(wrong)
      const code = getAppCode(secret, clock.now)
      const { token } = expectOk(await finish(pending, { code: `${code.slice(0, 3)} ${code.slice(3)}` }))
      expect((await read(token)).user).toMatchObject({ id: viewer.user.id, hasSecondFactor: true })
      // The same code, and that of the step before, are used up in every other log-in.
      const next = await start(email)
      expect(await finish(next, { code })).toMatchObject(wrong)
      expect(await finish(next, { code: getAppCode(secret, clock.now - stepMs) })).toMatchObject(wrong)
      expectOk(await finish(next, { code: getAppCode(secret, clock.now + stepMs) }))
      expect(await listActions(viewer.user.id)).toEqual(
        expect.arrayContaining(['account.logInPending', 'account.factorFailed', 'account.logIn', 'factor.add']),
      )
    })

    test('two concurrent log-ins with the same code get one session', async () => {
      const { email, viewer } = await signUp()
      const { secret } = await addApp(viewer)
      const both = await Promise.all([start(email), start(email)])
      const code = getAppCode(secret, fixture.clock.now)
      const results = await Promise.all(both.map((pending) => finish(pending, { code })))
      expect(results.filter(isAccountError)).toHaveLength(1)
    })

    test('of concurrent proofs, a recovery code, a response of a passkey, and a log-in that is pending work once', async () => {
      const { accounts } = fixture
      const { email, viewer: before } = await signUp()
      const { codes, viewer = before } = await addApp(before)
      const device = createSoftAuthenticator({ site })
      await addPasskey(viewer, device)
      const expectOne = (results: readonly unknown[]) =>
        expect(results.filter((result) => !isAccountError(result))).toHaveLength(1)
      const both = await Promise.all([start(email), start(email)])
      expectOne(await Promise.all(both.map((pending) => finish(pending, { code: codes[0] ?? '' }))))
      const pending = await start(email)
      expectOne(await Promise.all([1, 2].map((index) => finish(pending, { code: codes[index] ?? '' }))))
      // The log-in that came second did not use its code up.
      expect(await accounts.listFactors(viewer)).toMatchObject({ recoveryCodes: 8 })
      const next = await start(email)
      const { passkey } = expectOk(await accounts.getLogInOptions({ pending: next, site }))
      const response = device.get(passkey)
      expectOne(await Promise.all([1, 2].map(() => finish(next, { passkey: response }))))
    })

    test('that is pending works once, for 10 minutes, and ends with a change of the password', async () => {
      const { accounts, clock } = fixture
      const { email, viewer } = await signUp()
      const { codes } = await addApp(viewer)
      const used = await start(email)
      expectOk(await finish(used, { code: codes[0] ?? '' }))
      expect(await finish(used, { code: codes[1] ?? '' })).toMatchObject(expired)
      expect(await accounts.getLogInOptions({ pending: used, site })).toMatchObject(expired)
      const late = await start(email)
      const { text: link } = expectOk(await accounts.operator.resetLink({ id: viewer.user.id }))
      const changed = await start(email)
      clock.now += 10 * minute - 1
      expectOk(await finish(late, { code: codes[2] ?? '' }))
      clock.now += 1
      expect(await finish(changed, { code: codes[3] ?? '' })).toMatchObject(expired)
      const before = await start(email)
      const reset = await accounts.resetPassword({ link, password: 'another long password', ip: newIp() })
      // The link of a reset does not replace the factor.
      expect(await accounts.getLogInOptions({ pending: expectPending(reset), site })).toMatchObject({ kinds: ['totp'] })
      expect(await finish(before, { code: codes[4] ?? '' })).toMatchObject(expired)
      expectOk(await finish(expectPending(reset), { code: codes[5] ?? '' }))
    })

    test('that was used does not use up a right code, recovery code or passkey', async () => {
      const { accounts, clock } = fixture
      const { email, viewer: before } = await signUp()
      const { secret, codes, viewer = before } = await addApp(before)
      const device = createSoftAuthenticator({ site })
      await addPasskey(viewer, device)
      const used = await start(email)
      const { passkey } = expectOk(await accounts.getLogInOptions({ pending: used, site }))
      expectOk(await finish(used, { code: codes[0] ?? '' }))
      const list = () => accounts.listFactors(viewer)
      const unused = await list()
      const code = getAppCode(secret, clock.now)
      for (const proof of [{ code }, { code: codes[1] ?? '' }, { passkey: device.get(passkey) }])
        expect(await finish(used, proof)).toMatchObject(expired)
      expect(await list()).toEqual(unused)
      for (const right of [code, codes[1] ?? '']) expectOk(await finish(await start(email), { code: right }))
    })

    test('that is pending cannot be forged, or used for another account', async () => {
      const [ann, bob] = [await signUp(), await signUp()]
      const [{ codes }] = [await addApp(ann.viewer), await addApp(bob.viewer)]
      const pending = await start(bob.email)
      const [, ...rest] = pending.split('.')
      const forged = [
        [ann.viewer.user.id, ...rest].join('.'),
        pending.slice(0, -1),
        `${pending.slice(0, -4)}AAAA`,
        pending.replace(/\.\d{13}\./, `.${fixture.clock.now + 999 * minute}.`),
        '',
        ann.token,
      ]
      for (const one of forged) expect(await finish(one, { code: codes[0] ?? '' })).toMatchObject(expired)
      expect(
        await fixture.accounts.finishLogIn({ pending: undefined, proof: { code: '1' }, site, ip: newIp() }),
      ).toMatchObject(expired)
      expect(await finish(pending, { code: codes[0] ?? '' })).toMatchObject(wrong)
      // A forged one does not show whether there is such an account, or how it proves a factor.
      const unknown = ['usr_00000000000000000000', ...rest].join('.')
      for (const one of [unknown, ...forged])
        expect(await fixture.accounts.getLogInOptions({ pending: one, site })).toMatchObject(expired)
    })

    test('can be finished while others start log-ins at the same address', async () => {
      const { accounts } = fixture
      const { email, viewer } = await signUp()
      const { codes } = await addApp(viewer)
      const [pending, ip] = [await start(email), newIp()]
      for (let starts = 0; starts < 60; starts += 1) expectOk(await accounts.startPasskeyLogIn({ site, ip }))
      expect(await accounts.startPasskeyLogIn({ site, ip })).toMatchObject({ status: 429 })
      for (let tries = 0; tries < 60; tries += 1) expect(await finish('none', { code: '1' }, ip)).toMatchObject(expired)
      for (let tries = 0; tries < 59; tries += 1) expect(await finish(pending, { code: 'x' }, ip)).toMatchObject(wrong)
      expectOk(await finish(pending, { code: codes[0] ?? '' }, ip))
      // Each second step of the account at this address counts.
      expect(await finish(await start(email), { code: codes[1] ?? '' }, ip)).toMatchObject({ status: 429 })
    })

    test('of a disabled or deleted account cannot be finished', async () => {
      const { accounts } = fixture
      const { email, viewer } = await signUp()
      const { codes } = await addApp(viewer)
      const pending = await start(email)
      await accounts.operator.setUserState({ id: viewer.user.id, state: 'disabled' })
      expect(await finish(pending, { code: codes[0] ?? '' })).toMatchObject(expired)
      await storage.users.remove(viewer.user.id)
      expect(await finish(pending, { code: codes[0] ?? '' })).toMatchObject(expired)
    })

    test('by a link of the command needs the factor too', async () => {
      const { viewer } = await signUp()
      const { codes } = await addApp(viewer)
      const link = fixture.accounts.createLogInLink(viewer.user.id)
      const pending = expectPending(await fixture.accounts.logInWithLink({ link, ip: newIp() }))
      expectOk(await finish(pending, { code: codes[0] ?? '' }))
    })
  })

  describe('enumeration', () => {
    /** A storage that records which of its functions are called. */
    const watchCalls = () => {
      const calls: string[] = []
      const watch = <Target extends object>(target: Target, path: string): Target =>
        new Proxy(target, {
          get: (object, name) => {
            const value: unknown = Reflect.get(object, name)
            const at = `${path}${String(name)}`
            if (typeof value === 'object' && value !== null) return watch(value, `${at}.`)
            if (typeof value !== 'function') return value
            return (...given: unknown[]): unknown => {
              calls.push(at)
              return Reflect.apply(value, object, given)
            }
          },
        })
      return { calls, watched: watch(storage, '') }
    }

    test('before the password is right, neither a response nor its work depends on a factor or an account', async () => {
      const [none, app, phone] = [await signUp(), await signUp(), await signUp()]
      await addApp(app.viewer)
      await addPasskey(phone.viewer, createSoftAuthenticator({ site }))
      const { calls, watched } = watchCalls()
      const { accounts, hashes } = createFixture(watched, { secrets, mailer: inbox.mailer })
      const trace = async (email: string) => {
        const from = { email, ip: newIp() }
        const traced = []
        for (const send of [
          () => accounts.logIn({ ...from, password: 'not this one' }),
          () => accounts.logIn({ ...from, password: 'x'.repeat(2_000) }),
          () => accounts.forgotPassword(from),
          () => accounts.signUp({ ...from, password }),
          () => accounts.requestSignUp(from),
        ]) {
          const [hashed, called] = [hashes.length, calls.length]
          const result = await send()
          traced.push({ result, hashes: hashes.slice(hashed), calls: calls.slice(called) })
          // Emails are composed after the response.
          await inbox.waitUntilSent()
        }
        return traced
      }
      const unknown = await trace('nobody@example.org')
      expect(unknown[0]).toMatchObject({
        result: { status: 401 },
        hashes: [{}],
        calls: ['users.findByEmail', 'auditLog.add'],
      })
      for (const { email } of [none, app, phone]) expect(await trace(email)).toEqual(unknown)
      const { text: link } = expectOk(await accounts.operator.resetLink({ id: app.viewer.user.id }))
      // A link of an account with a factor, which is used with a password that is not accepted, and one that does not exist.
      const reset = (given: string) => accounts.resetPassword({ link: given, password: 'short', ip: newIp() })
      expect(await reset(link)).toMatchObject({ status: 422 })
      expect(await reset(`${link.slice(0, -1)}!`)).toMatchObject({ code: 'link_invalid' })
      // Anyone can start a log-in with a passkey, and the options name no account.
      const { passkey } = expectOk(await accounts.startPasskeyLogIn({ site, ip: newIp() }))
      expect(passkey).not.toHaveProperty('allowCredentials.0')
    })

    test('after it, each wrong factor gets the same response, also of a kind that the account does not have', async () => {
      const [ann, bob, eve] = [await signUp(), await signUp(), await signUp()]
      const app = await addApp(ann.viewer)
      const [own, other] = [createSoftAuthenticator({ site }), createSoftAuthenticator({ site })]
      await addPasskey(bob.viewer, own)
      await addPasskey(eve.viewer, other)
      const results = []
      for (const { email } of [ann, bob]) {
        const pending = await start(email)
        const { passkey } = expectOk(await fixture.accounts.getLogInOptions({ pending, site }))
        const challenge = { challenge: randomBytes(32).toString('base64url') }
        for (const proof of [
          { code: getWrongCode(app.secret, fixture.clock.now) },
          { code: '7KQ2-7KQ2-7KQ2-7KQ2' },
          { code: '' },
          { passkey: own.get(passkey, challenge) },
          { passkey: other.get(passkey, challenge) },
          { passkey: createSoftAuthenticator({ site }).get(passkey, challenge) },
        ])
          results.push(await finish(pending, proof))
      }
      expect(results[0]).toMatchObject(wrong)
      for (const result of results) expect(result).toEqual(results[0])
    })
  })

  describe('a replay', () => {
    test.each(['a code', 'a recovery code', 'a response of a passkey', 'a challenge'])(
      'of %s works in no log-in and no session, the same one or another',
      async (kind) => {
        const { accounts, clock } = fixture
        const { email, viewer: before } = await signUp()
        const { secret, codes, token: first = '', viewer: owner = before } = await addApp(before)
        const device = createSoftAuthenticator({ site })
        await addPasskey(owner, device)
        const prove = (
          passkey: PasskeyOptions | null,
          recoveryCode = '',
        ): { used: FactorProof; again: FactorProof } => {
          if (kind === 'a challenge')
            return { used: { passkey: device.get(passkey) }, again: { passkey: device.get(passkey) } }
          const used =
            kind === 'a response of a passkey'
              ? { passkey: device.get(passkey) }
              : { code: kind === 'a code' ? getAppCode(secret, clock.now) : recoveryCode }
          return { used, again: used }
        }
        const confirm = async (token: string, proof: FactorProof) =>
          accounts.confirmFactor({ viewer: await read(token), proof, site, ip: newIp() })

        const pending = await start(email)
        const inLogIn = prove(expectOk(await accounts.getLogInOptions({ pending, site })).passkey, codes[0])
        const { token: second } = expectOk(await finish(pending, inLogIn.used))
        expect(await finish(pending, inLogIn.again)).toMatchObject(expired)
        expect(await finish(await start(email), inLogIn.again)).toMatchObject(wrong)
        for (const token of [second, first]) expect(await confirm(token, inLogIn.again)).toMatchObject(wrong)

        clock.now += stepMs
        const viewer = await read(second)
        const inSession = prove(expectOk(await accounts.getConfirmOptions({ viewer, site })).passkey, codes[1])
        expectOk(await confirm(second, inSession.used))
        for (const token of [second, first]) expect(await confirm(token, inSession.again)).toMatchObject(wrong)
        expect(await finish(await start(email), inSession.again)).toMatchObject(wrong)
      },
    )

    test('of a challenge of another session or log-in does not work, even if it was not used', async () => {
      const { accounts } = fixture
      const { email, viewer: before } = await signUp()
      const device = createSoftAuthenticator({ site })
      const { recoveryCodes, viewer: owner = before } = await addPasskey(before, device)
      const { token } = expectOk(await finish(await start(email), { code: recoveryCodes?.[0] ?? '' }))
      const viewer = await read(token)
      const pending = await start(email)
      const { passkey: ofOwner } = expectOk(await accounts.getConfirmOptions({ viewer: owner, site }))
      const { passkey: ofLogIn } = expectOk(await accounts.getLogInOptions({ pending, site }))
      for (const options of [ofOwner, ofLogIn]) {
        const proof = { passkey: device.get(options) }
        expect(await accounts.confirmFactor({ viewer, proof, site, ip: newIp() })).toMatchObject(wrong)
      }
      expectOk(await finish(pending, { passkey: device.get(ofLogIn) }))
    })
  })

  describe('codes', () => {
    test('can be tried 5 times at an address and 10 times in all, and the owner can use other factors', async () => {
      const { clock } = fixture
      const { email, viewer } = await signUp()
      const { secret, codes } = await addApp(viewer)
      const pending = await start(email)
      const tooMany = { status: 429, code: 'too_many_tries', retryAfterMs: minute }
      const guess = (ip: string) => finish(pending, { code: getWrongCode(secret, clock.now) }, ip)
      const [one, two] = [newIp(), newIp()]
      await inbox.waitUntilSent()
      inbox.emails.length = 0
      for (let tries = 0; tries < 5; tries += 1) expect(await guess(one)).toMatchObject(wrong)
      expect(await guess(one)).toMatchObject(tooMany)
      for (let tries = 0; tries < 4; tries += 1) expect(await guess(two)).toMatchObject(wrong)
      await inbox.waitUntilSent()
      expect(inbox.emails).toEqual([])
      expect(await guess(two)).toMatchObject(wrong)
      const warning = await inbox.next()
      expect([warning.to, warning.text]).toEqual([email, expect.stringContaining('There were too many wrong codes')])
      expect(await guess(newIp())).toMatchObject({ ...tooMany, retryAfterMs: 5 * minute })
      // The right code is not accepted either: otherwise guessing would go on.
      expect(await finish(pending, { code: getAppCode(secret, clock.now) })).toMatchObject({ status: 429 })
      // Another account is not affected, nor are recovery codes.
      const bob = await signUp()
      const other = await addApp(bob.viewer)
      expectOk(await finish(await start(bob.email), { code: getAppCode(other.secret, clock.now) }, one))
      expectOk(await finish(pending, { code: codes[0] ?? '' }, one))
      // The next wrong code does not send the email again.
      clock.now += 5 * minute
      expect(await finish(await start(email), { code: getWrongCode(secret, clock.now) })).toMatchObject(wrong)
      await inbox.waitUntilSent()
      expect(inbox.emails.filter(({ text }) => text.includes('too many wrong codes'))).toEqual([])
      clock.now += 5 * minute
      expectOk(await finish(await start(email), { code: getAppCode(secret, clock.now) }))
    })

    test('from many addresses share one allowance, and do not lock the user out where a session is open', async () => {
      const { accounts, clock } = fixture
      const { email, viewer } = await signUp()
      const { secret, codes } = await addApp(viewer)
      const home = newIp()
      expectOk(await finish(await start(email), { code: codes[0] ?? '' }, home))
      const tooMany = { status: 429, code: 'too_many_tries' }
      // Half an hour with a new address for each try.
      let tries = 0
      let pending = ''
      for (let elapsed = 0; elapsed < 30; elapsed += 1) {
        if (elapsed % 10 === 0) pending = await start(email)
        const result = await finish(pending, { code: getWrongCode(secret, clock.now) }, newIp())
        if (isAccountError(result) && result.code === wrong.code) tries += 1
        else expect(result).toMatchObject(tooMany)
        if (elapsed < 29) clock.now += minute
      }
      expect(tries).toBe(10 + Math.floor(29 / 5))
      const enter = async (ip: string, code = getAppCode(secret, clock.now)) => finish(await start(email), { code }, ip)
      expect(await enter(newIp())).toMatchObject(tooMany)
      const { viewer: own } = expectOk(await enter(home))
      // The address has the bounds of the others: ten tries, and five at once.
      clock.now += 10 * minute
      tries = 0
      for (let elapsed = 0; elapsed < 20; elapsed += 1) {
        const proof = { code: getWrongCode(secret, clock.now) }
        const result = await accounts.confirmFactor({ viewer: own, proof, site, ip: home })
        if (isAccountError(result) && result.code === wrong.code) tries += 1
        if (elapsed >= 6) clock.now += minute
      }
      expect(tries).toBe(10 + Math.floor(13 / 5))
      expect(await enter(home)).toMatchObject(tooMany)
      // A recovery code works everywhere.
      expectOk(await enter(newIp(), codes[1]))
    })

    test('from one /64 of IPv6 count as one address, and those of a colleague at the same address do not count', async () => {
      const { clock } = fixture
      const [ann, bob] = [await signUp(), await signUp()]
      const [app, other] = [await addApp(ann.viewer), await addApp(bob.viewer)]
      const pending = await start(ann.email)
      const guess = (host: number) =>
        finish(pending, { code: getWrongCode(app.secret, clock.now) }, `2001:db8:7::${host}`)
      for (let host = 1; host <= 5; host += 1) expect(await guess(host)).toMatchObject(wrong)
      expect(await guess(6)).toMatchObject({ status: 429 })
      const code = getAppCode(other.secret, clock.now)
      expectOk(await finish(await start(bob.email), { code }, '2001:db8:7::1'))
      // Nor do they count as wrong passwords.
      await start(ann.email)
    })

    test('a right one is not counted as a failure', async () => {
      const { clock } = fixture
      const { email, viewer } = await signUp()
      const { secret } = await addApp(viewer)
      const ip = newIp()
      for (let tries = 0; tries < 12; tries += 1) {
        clock.now += stepMs
        expectOk(await finish(await start(email), { code: getAppCode(secret, clock.now) }, ip))
      }
    })

    test('of a session count as well', async () => {
      const { accounts, clock } = fixture
      const { email, viewer: before } = await signUp()
      const { secret, viewer = before } = await addApp(before)
      const pending = await start(email)
      for (let tries = 0; tries < 10; tries += 1) {
        const proof = { code: getWrongCode(secret, clock.now) }
        expect(await accounts.confirmFactor({ viewer, proof, site, ip: newIp() })).toMatchObject(wrong)
      }
      expect(await finish(pending, { code: getAppCode(secret, clock.now) })).toMatchObject({ status: 429 })
    })

    test('are stored sealed, and work after the server secret was rotated', async () => {
      const { email, viewer } = await signUp()
      const { secret: shown, id } = await addApp(viewer)
      const [stored] = await storage.factors.list(viewer.user.id)
      expect(Buffer.from(stored?.sealed ?? []).includes(shown)).toBe(false)
      const newest = createServerSecret(randomBytes(32).toString('hex'), { version: 2 })
      const { unreadable } = await resealKeys(storage.factors, [newest, secret])
      expect(unreadable).not.toContain(id)
      fixture = createFixture(storage, { secrets: [newest] })
      fixture.clock.now += 2 * minute
      expectOk(await finish(await start(email), { code: getAppCode(shown, fixture.clock.now) }))
      // A copy in another account is useless.
      const bob = await signUp()
      const other = await addApp(bob.viewer)
      await storage.db.query
        .updateTable('factors')
        .set({ sealed: (await storage.factors.list(viewer.user.id))[0]?.sealed ?? null })
        .where('id', '=', other.id)
        .execute()
      expect(
        await finish(await start(bob.email), { code: getAppCode(shown, fixture.clock.now + stepMs) }),
      ).toMatchObject(wrong)
      // Other tests of this file have the first secret.
      await resealKeys(storage.factors, [secret, newest])
    })

    test('of a setup that another session started are rejected', async () => {
      const { accounts, clock } = fixture
      const { viewer } = await signUp()
      const other = await signUp()
      const { totp } = expectOk(await accounts.getNewFactorOptions({ viewer: other.viewer, site }))
      const code = getAppCode(totp.secret, clock.now)
      const request = { viewer, label: 'App', site, ip: newIp() }
      expect(await accounts.addFactor({ ...request, totp: { setup: totp.setup, code } })).toMatchObject({
        code: 'second_factor_wrong',
      })
      const own = expectOk(await accounts.getNewFactorOptions({ viewer, site }))
      const totpOfOwn = { setup: own.totp.setup, code: getWrongCode(own.totp.secret, clock.now) }
      expect(await accounts.addFactor({ ...request, totp: totpOfOwn })).toMatchObject(wrong)
      expect((await read(other.token)).user.hasSecondFactor).toBe(false)
    })
  })

  test('the secret of an app can be added once, within 10 minutes', async () => {
    const { accounts, clock } = fixture
    const { viewer: before } = await signUp()
    const { secret, viewer = before } = await addApp(before)
    const add = (totp: NewFactorOptions['totp'], setup = totp.setup) => {
      const code = getAppCode(totp.secret, clock.now)
      return accounts.addFactor({ viewer, label: 'App', totp: { setup, code }, site, ip: newIp() })
    }
    const [used, late] = [
      expectOk(await accounts.getNewFactorOptions({ viewer, site })).totp,
      expectOk(await accounts.getNewFactorOptions({ viewer, site })).totp,
    ]
    expectOk(await add(used))
    clock.now += stepMs
    // The padding is another text of the same bytes.
    for (const setup of [used.setup, `${used.setup}=`]) expect(await add(used, setup)).toMatchObject(wrong)
    clock.now += 10 * minute - stepMs - 1
    const proof = { code: getAppCode(secret, clock.now) }
    expectOk(await accounts.confirmFactor({ viewer, proof, site, ip: newIp() }))
    clock.now += 1
    expect(await add(late)).toMatchObject(wrong)
    expect((await accounts.listFactors(viewer)).factors).toHaveLength(2)
  })

  describe('recovery codes', () => {
    test('are ten that work once each, however they are typed', async () => {
      const { email, viewer: before } = await signUp()
      const { codes, viewer = before } = await addApp(before)
      expect(new Set(codes).size).toBe(10)
      for (const code of codes) expect(code).toMatch(/^(?:[2-9A-HJ-NP-Z]{4}-){3}[2-9A-HJ-NP-Z]{4}$/)
      const [first = '', second = ''] = codes
      await inbox.waitUntilSent()
      inbox.emails.length = 0
      expectOk(await finish(await start(email), { code: ` ${first.toLowerCase().replaceAll('-', ' ')}` }))
      expect(await finish(await start(email), { code: first })).toMatchObject(wrong)
      expect(await fixture.accounts.listFactors(viewer)).toMatchObject({ recoveryCodes: 9 })
      expect((await inbox.next()).text).toContain('A recovery code was used. 9 are left.')
      const renewed = expectOk(await fixture.accounts.renewRecoveryCodes({ viewer }))
      expect(await finish(await start(email), { code: second })).toMatchObject(wrong)
      expectOk(await finish(await start(email), { code: renewed[0] ?? '' }))
    })

    test('of another account do not work, and an account without a factor has none', async () => {
      const [ann, bob] = [await signUp(), await signUp()]
      const { codes } = await addApp(ann.viewer)
      await addApp(bob.viewer)
      expect(await finish(await start(bob.email), { code: codes[0] ?? '' })).toMatchObject(wrong)
      const eve = await signUp()
      expect(await fixture.accounts.renewRecoveryCodes({ viewer: eve.viewer })).toMatchObject({
        code: 'second_factor_missing',
      })
    })

    test('end with the last factor', async () => {
      const { viewer: before } = await signUp()
      const { id, codes, viewer = before } = await addApp(before)
      expect(await fixture.accounts.removeFactor({ viewer, id })).toBe(true)
      expect(await fixture.accounts.removeFactor({ viewer, id })).toBe(false)
      expect(await fixture.accounts.listFactors(viewer)).toEqual({ factors: [], recoveryCodes: 0 })
      expect(
        await storage.factors.useRecoveryCode({ userId: viewer.user.id, hash: hashRecoveryCode(codes[0] ?? '') }),
      ).toBe(false)
      expect(await storage.users.find(viewer.user.id)).toMatchObject({ hasSecondFactor: false })
    })
  })

  describe('sessions', () => {
    test('without a factor end when the first one is added, with each copy of their cookies, and the next one keeps them', async () => {
      const { accounts } = fixture
      const { email, token: copied, viewer } = await signUp()
      const stolen = expectOk(await accounts.logIn({ email, password, ip: newIp() })).token
      const { codes, token = '' } = await addApp(viewer)
      for (const ended of [stolen, copied]) expect(await accounts.authenticate(ended)).toBeUndefined()
      const { token: other } = expectOk(await finish(await start(email), { code: codes[0] ?? '' }))
      await addApp(await read(token))
      await read(other)
    })

    test('that the previous version starts are not valid with a factor', async () => {
      const { viewer } = await signUp()
      const { id: userId } = viewer.user
      const token = createSessionToken()
      await storage.sessions.create({ hash: hashSecret(token), userId, now: fixture.clock.now })
      expect((await fixture.accounts.authenticate(token))?.user.id).toBe(userId)
      await storage.db.query.updateTable('users').set({ hasSecondFactor: 1 }).where('id', '=', userId).execute()
      expect(await fixture.accounts.authenticate(token)).toBeUndefined()
    })

    test('need a proof of the last 10 minutes, and the password does not replace it', async () => {
      const { accounts, clock } = fixture
      const { email, viewer: before } = await signUp()
      const { codes } = await addApp(before)
      const { token } = expectOk(await finish(await start(email), { code: codes[0] ?? '' }))
      const viewer = await read(token)
      expect(await accounts.confirm(viewer)).toBe(true)
      clock.now += 10 * minute
      const required = { status: 403, code: 'second_factor_confirm_required' }
      expect(await accounts.confirm(viewer, password)).toMatchObject(required)
      const change = { viewer, current: password, next: 'another long password', ip: newIp() }
      const proof = { code: codes[1] ?? '' }
      const confirmed = expectOk(await accounts.confirmFactor({ viewer, proof, site, ip: newIp() }))
      expect(await accounts.confirm(confirmed)).toBe(true)
      expect(await accounts.confirm(await read(token))).toBe(true)
      // The new session of a changed password has proved the factor when the old one did.
      clock.now += 9 * minute
      const changed = expectOk(await accounts.changePassword({ ...change, viewer: await read(token) }))
      clock.now += minute
      expect(await accounts.confirm(await read(changed.token))).toMatchObject(required)
      const again = { viewer: await read(changed.token), proof: { code: codes[2] ?? '' }, site, ip: newIp() }
      const last = expectOk(await accounts.confirmFactor(again))
      // The factor does not replace the password for what cannot be undone.
      expect(await accounts.deleteAccount({ viewer: last })).toMatchObject({ status: 403, code: 'confirm_required' })
      expect(await accounts.deleteAccount({ viewer: last, password: change.next })).toBe(true)
    })

    test('that ended, or whose proof expired, while the request was sent cannot change factors', async () => {
      const { accounts, clock } = fixture
      const { email, viewer: before } = await signUp()
      const { id, codes, token: first = '' } = await addApp(before)
      const { token } = expectOk(await finish(await start(email), { code: codes[0] ?? '' }))
      const [viewer, other] = [await read(token), await read(first)]
      const change = async (viewer: Viewer) => {
        const { totp } = expectOk(await accounts.getNewFactorOptions({ viewer, site }))
        const setup = { setup: totp.setup, code: getAppCode(totp.secret, clock.now) }
        return [
          await accounts.addFactor({ viewer, label: 'Evil', totp: setup, site, ip: newIp() }),
          await accounts.removeFactor({ viewer, id }),
          await accounts.renewRecoveryCodes({ viewer }),
        ]
      }
      await accounts.logOut(first)
      expect(await change(other)).toMatchObject([expired, expired, expired])
      clock.now += 10 * minute
      const required = { status: 403, code: 'second_factor_confirm_required' }
      expect(await change(viewer)).toMatchObject([required, required, required])
      expect(await accounts.listFactors(viewer)).toMatchObject({ factors: [{ id }], recoveryCodes: 9 })
    })

    test('that have ended do not use up a right code', async () => {
      const { accounts } = fixture
      const { viewer: before } = await signUp()
      const { secret, codes, token = '', viewer = before } = await addApp(before)
      await accounts.logOut(token)
      for (const code of [codes[0] ?? '', getAppCode(secret, fixture.clock.now)])
        expect(await accounts.confirmFactor({ viewer, proof: { code }, site, ip: newIp() })).toMatchObject(expired)
      expect(await accounts.listFactors(viewer)).toMatchObject({ factors: [{ usedAt: null }], recoveryCodes: 10 })
    })

    test('that are stolen cannot add a factor while the owner adds the first one', async () => {
      const { accounts } = fixture
      const { email, viewer } = await signUp()
      const { token } = expectOk(await accounts.logIn({ email, password, ip: newIp() }))
      const stolen = await read(token)
      const { totp } = expectOk(await accounts.getNewFactorOptions({ viewer: stolen, site }))
      await addApp(viewer)
      const code = getAppCode(totp.secret, fixture.clock.now)
      const request = { viewer: stolen, label: 'Evil', totp: { setup: totp.setup, code }, site, ip: newIp() }
      expect(await accounts.addFactor(request)).toMatchObject(expired)
    })

    test('access tokens cannot prove or add a factor', async () => {
      const { accounts } = fixture
      const { viewer } = await signUp()
      const created = expectOk(
        await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      )
      await addApp(viewer)
      const tokenViewer = expectOk(await accounts.authenticateToken(created.text))
      const rejected = { status: 403, code: 'session_required' }
      const request = { viewer: tokenViewer, site, ip: newIp() }
      expect(await accounts.getConfirmOptions(request)).toMatchObject(rejected)
      expect(await accounts.confirmFactor({ ...request, proof: { code: '1' } })).toMatchObject(rejected)
      expect(await accounts.getNewFactorOptions(request)).toMatchObject(rejected)
      expect(await accounts.addFactor({ ...request, label: 'x' })).toMatchObject(rejected)
      expect(await accounts.confirm(tokenViewer)).toMatchObject(rejected)
    })
  })

  describe('an operator', () => {
    test('removes all factors, which ends the sessions, is in the audit log, and is mailed to the user', async () => {
      const { accounts } = fixture
      const { email, viewer } = await signUp()
      const { token = '' } = await addApp(viewer)
      const pending = await start(email)
      await inbox.waitUntilSent()
      inbox.emails.length = 0
      const reset = expectOk(await accounts.operator.resetSecondFactor({ id: viewer.user.id, actor: 'usr_operator' }))
      expect(reset.hasSecondFactor).toBe(false)
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await finish(pending, { code: '123456' })).toMatchObject(wrong)
      expectOk(await accounts.logIn({ email, password, ip: newIp() }))
      expect(await storage.auditLog.list({ userId: viewer.user.id, action: 'factor.reset', limit: 1 })).toMatchObject([
        { actor: 'usr_operator', subject: viewer.user.id },
      ])
      const mail = await inbox.next()
      expect([mail.to, mail.text]).toEqual([
        email,
        expect.stringContaining('An operator removed all your second factors'),
      ])
      expect(await accounts.operator.resetSecondFactor({ id: 'usr_nobody' })).toMatchObject({ status: 404 })
    })
  })

  describe('passkeys', () => {
    const algorithms = ['ES256', 'EdDSA'] as const
    /** Starts a log-in with a passkey alone. */
    const startAlone = async () => expectOk(await fixture.accounts.startPasskeyLogIn({ site, ip: newIp() }))
    const finishAlone = (token: string | undefined, passkey: ReturnType<SoftAuthenticator['get']>) =>
      fixture.accounts.logInWithPasskey({ token, passkey, site, ip: newIp() })

    test.each(algorithms)('with %s are a second factor, and a log-in of their own', async (algorithm) => {
      const { accounts } = fixture
      const { email, viewer } = await signUp()
      const device = createSoftAuthenticator({ site, algorithm })
      const { factor, recoveryCodes } = await addPasskey(viewer, device)
      expect([factor.kind, recoveryCodes?.length]).toEqual(['passkey', 10])
      const pending = await start(email)
      const { kinds, passkey } = expectOk(await accounts.getLogInOptions({ pending, site }))
      expect(kinds).toEqual(['passkey'])
      expect(passkey).toMatchObject({ rpId: 'node.example', allowCredentials: [{ id: device.id }] })
      const { token } = expectOk(await finish(pending, { passkey: device.get(passkey, { isUserVerified: false }) }))
      expect(await accounts.confirm(await read(token))).toBe(true)
      const alone = await startAlone()
      const logged = expectOk(await finishAlone(alone.token, device.get(alone.passkey)))
      expect(logged.viewer.user.id).toBe(viewer.user.id)
      expect(await accounts.confirm(await read(logged.token))).toBe(true)
    })

    test('alone must verify the user, and belong to the browser that started', async () => {
      const { viewer } = await signUp()
      const device = createSoftAuthenticator({ site })
      await addPasskey(viewer, device)
      const { token, passkey } = await startAlone()
      expect(await finishAlone(token, device.get(passkey, { isUserVerified: false }))).toMatchObject(wrong)
      const other = await startAlone()
      expect(await finishAlone(other.token, device.get(passkey))).toMatchObject(wrong)
      expect(await finishAlone(undefined, device.get(passkey))).toMatchObject(expired)
      const handle = Buffer.from('usr_other').toString('base64url')
      expect(await finishAlone(token, device.get(passkey, { userHandle: handle }))).toMatchObject(wrong)
      const response = device.get(passkey)
      expectOk(await finishAlone(token, response))
      // Neither the response nor its challenge works again.
      expect(await finishAlone(token, response)).toMatchObject(wrong)
      expect(await finishAlone(token, device.get(passkey))).toMatchObject(wrong)
    })

    test.each([
      ['of another origin', { origin: 'https://node.example.evil.example' }],
      ['of another port', { origin: 'https://node.example:8443' }],
      ['of another domain', { rpId: 'evil.example' }],
      ['to another challenge', { challenge: randomBytes(32).toString('base64url') }],
    ])('a response %s is rejected', async (_, changes) => {
      const { email, viewer } = await signUp()
      const device = createSoftAuthenticator({ site })
      const { passkey: creation } = expectOk(await fixture.accounts.getNewFactorOptions({ viewer, site }))
      const request = { viewer, label: 'Phone', site, ip: newIp() }
      expect(await fixture.accounts.addFactor({ ...request, passkey: device.create(creation, changes) })).toMatchObject(
        wrong,
      )
      await addPasskey(viewer, device)
      const pending = await start(email)
      const { passkey } = expectOk(await fixture.accounts.getLogInOptions({ pending, site }))
      expect(await finish(pending, { passkey: device.get(passkey, changes) })).toMatchObject(wrong)
      const alone = await startAlone()
      expect(await finishAlone(alone.token, device.get(alone.passkey, changes))).toMatchObject(wrong)
    })

    test('with certificates are rejected before a URL in them is requested', async () => {
      let requests = 0
      const server = createServer((_, response) => {
        requests += 1
        response.end()
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      try {
        const { accounts } = fixture
        const { viewer } = await signUp()
        const crlUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/crl`
        const add = async (attest: ReturnType<typeof attestPacked>) => {
          const { passkey } = expectOk(await accounts.getNewFactorOptions({ viewer, site }))
          const response = createSoftAuthenticator({ site }).create(passkey, { attest })
          return accounts.addFactor({ viewer, label: 'Phone', passkey: response, site, ip: newIp() })
        }
        expect(await add(attestAndroidKey(crlUrl))).toMatchObject(wrong)
        expect(await add(attestPacked([Buffer.from('a certificate')]))).toMatchObject(wrong)
        expect(await add(attestPacked([]))).toMatchObject(wrong)
        expect(requests).toBe(0)
        // Some authenticators attest with the passkey's own key, although nothing asks them to.
        expectOk(await add(attestPacked()))
      } finally {
        server.close()
      }
    })

    test('a challenge expires, and works only for what it was created for', async () => {
      const { accounts, clock } = fixture
      const { email, viewer } = await signUp()
      const device = createSoftAuthenticator({ site })
      await addPasskey(viewer, device)
      const [pending, other] = [await start(email), await start(email)]
      const { passkey } = expectOk(await accounts.getLogInOptions({ pending, site }))
      const confirm = expectOk(await accounts.getConfirmOptions({ viewer, site }))
      const creation = expectOk(await accounts.getNewFactorOptions({ viewer, site }))
      const alone = await startAlone()
      expect(await finish(other, { passkey: device.get(passkey) })).toMatchObject(wrong)
      for (const options of [confirm.passkey, creation.passkey, alone.passkey])
        expect(await finish(pending, { passkey: device.get(options) })).toMatchObject(wrong)
      expect(await finishAlone(alone.token, device.get(passkey))).toMatchObject(wrong)
      clock.now += 10 * minute
      expect(await finishAlone(alone.token, device.get(alone.passkey))).toMatchObject(wrong)
    })

    test('a clone is noticed by its counter, and an authenticator without a counter works', async () => {
      const { viewer: before } = await signUp()
      const device = createSoftAuthenticator({ site })
      const { viewer = before } = await addPasskey(before, device)
      const use = async (counter: number) => {
        const { token, passkey } = await startAlone()
        return finishAlone(token, device.get(passkey, { counter }))
      }
      expectOk(await use(7))
      for (const counter of [7, 6, 0]) expect(await use(counter)).toMatchObject({ status: 403, code: 'passkey_cloned' })
      expectOk(await use(8))
      expect(
        await storage.auditLog.list({ userId: viewer.user.id, action: 'account.logInFailed', limit: 1 }),
      ).toMatchObject([{ detail: { why: 'clonedPasskey' } }])
      const synced = createSoftAuthenticator({ site, hasCounter: false })
      await addPasskey(viewer, synced)
      for (let uses = 0; uses < 3; uses += 1) {
        const { token, passkey } = await startAlone()
        expectOk(await finishAlone(token, synced.get(passkey)))
      }
    })

    test('of another account, or that were removed, are rejected', async () => {
      const { accounts } = fixture
      const [ann, bob] = [await signUp(), await signUp()]
      const device = createSoftAuthenticator({ site })
      const { factor, viewer = ann.viewer } = await addPasskey(ann.viewer, device)
      const { viewer: other = bob.viewer } = await addPasskey(bob.viewer, createSoftAuthenticator({ site }))
      const pending = await start(bob.email)
      const { passkey: asked } = expectOk(await accounts.getLogInOptions({ pending, site }))
      expect(await finish(pending, { passkey: device.get(asked) })).toMatchObject(wrong)
      const { passkey } = expectOk(await accounts.getNewFactorOptions({ viewer: other, site }))
      const request = { viewer: other, label: 'Phone', passkey: device.create(passkey), site, ip: newIp() }
      expect(await accounts.addFactor(request)).toMatchObject({ status: 409, code: 'passkey_taken' })
      // A log-in alone does not show which passkeys exist: another key with this id gets the same error.
      const forged = { ...createSoftAuthenticator({ site }).get((await startAlone()).passkey), id: device.id }
      const known = await startAlone()
      const results = [await finishAlone(known.token, forged)]
      expect(await accounts.removeFactor({ viewer, id: factor.id })).toBe(true)
      const alone = await startAlone()
      results.push(await finishAlone(alone.token, device.get(alone.passkey)))
      expect(results).toEqual([results[1], expect.objectContaining(wrong)])
    })

    test('of a disabled account do not log in', async () => {
      const { viewer } = await signUp()
      const device = createSoftAuthenticator({ site })
      await addPasskey(viewer, device)
      await fixture.accounts.operator.setUserState({ id: viewer.user.id, state: 'disabled' })
      const { token, passkey } = await startAlone()
      expect(await finishAlone(token, device.get(passkey))).toMatchObject({ code: 'account_disabled' })
    })

    test('do not log in alone if the service has no passwords', async () => {
      const { accounts: other } = createFixture(storage, { secrets, passwordLogin: () => false })
      expect(await other.startPasskeyLogIn({ site, ip: newIp() })).toMatchObject({ code: 'password_log_in_disabled' })
    })

    test('and apps of an account are ten at most', async () => {
      const { viewer: before } = await signUp()
      const { viewer = before } = await addPasskey(before, createSoftAuthenticator({ site }))
      for (let count = 1; count < 10; count += 1) await addPasskey(viewer, createSoftAuthenticator({ site }))
      const { passkey } = expectOk(await fixture.accounts.getNewFactorOptions({ viewer, site }))
      const device = createSoftAuthenticator({ site })
      const request = { viewer, label: 'Phone', passkey: device.create(passkey), site, ip: newIp() }
      expect(await fixture.accounts.addFactor(request)).toMatchObject({ status: 409, code: 'factors_full' })
    })
  })
})
