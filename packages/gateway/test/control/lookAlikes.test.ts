import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectOk, newEmail } from '../account/accountFixture.ts'
import { readLink } from '../email/inbox.ts'
import { startOidcProvider } from '../oidc/startOidcProvider.ts'
import type { OidcProvider } from '../oidc/startOidcProvider.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { expectBody, expectError, password, readCookie } from './accountFixture.ts'
import { startControl } from './startControl.ts'
import type { Login, StartedControl } from './startControl.ts'

// Earlier versions took most of these pairs for the same address.
const lookAlikes: readonly (readonly [string, string, string, string, string])[] = [
  ['a dotless i in the local part', 'adm\u{131}n', '@corp.example', 'admin', '@corp.example'],
  ['a Kelvin sign in the local part', '\u{212a}im', '@corp.example', 'kim', '@corp.example'],
  ['a Cyrillic letter in the local part', '\u{430}dmin', '@corp.example', 'admin', '@corp.example'],
  ['a dotless i in the domain', 'victim', '@gma\u{131}l.example', 'victim', '@gmail.example'],
]

describe.each(suiteDatabases)('email addresses that look alike on $name', (database) => {
  let control: StartedControl
  let provider: OidcProvider
  beforeAll(async () => {
    control = await startControl(database)
    provider = await startOidcProvider({ redirectUri: `${control.url}/log-in/single-sign-on` })
  })
  afterAll(async () => {
    await provider.close()
    await control.close()
    await database.stop()
  })
  beforeEach(() => {
    control.oidc.config = provider.config
    control.inbox.isOn = true
  })

  let pairs = 0
  /** Makes a pair of addresses unique. */
  const toPair = ([, first, domain, other, otherDomain]: (typeof lookAlikes)[number]): readonly [string, string] => {
    pairs += 1
    return [`${first}${pairs}${domain}`, `${other}${pairs}${otherDomain}`]
  }
  const requestLink = async (email: string): Promise<string> => {
    expect((await control.call('POST /api/account/sign-up-link', { body: { email } })).status).toBe(204)
    return readLink(await control.inbox.next()).secret
  }
  const signUp = async (email: string): Promise<{ id: string; as: Login }> => {
    const link = await requestLink(email)
    const response = await control.call('POST /api/account', { body: { email, password, link } })
    const { account } = expectBody<{ account: { id: string } }>(response, 201)
    return { id: account.id, as: { cookie: readCookie(response) } }
  }
  const singleSignOn = async (email: string) => {
    provider.user = { sub: newEmail(), email, email_verified: true }
    const started = await control.call('POST /api/session/single-sign-on')
    const { url } = expectBody<{ url: string }>(started)
    const { search } = await provider.visit(url)
    const as = { cookie: readCookie(started) }
    return control.call('POST /api/session/single-sign-on/finish', { body: { response: search }, as })
  }

  test.each(lookAlikes)("single sign-on with %s does not open another person's account", async (...pair) => {
    const [fake, real] = toPair(pair)
    const { id } = await signUp(real)
    expectOk(await control.accounts.operator.setUserRole({ id, role: 'operator' }))
    expect(expectError(await singleSignOn(fake), 409).code).toBe('email_similar')
    expect(await control.storage.identities.list(id)).toEqual([])
    // The owner's log-in still does.
    expect(expectBody<{ account: { id: string } }>(await singleSignOn(real)).account.id).toBe(id)
  })

  test.each(lookAlikes)('a link to an address with %s proves no other address', async (...pair) => {
    const [fake, real] = toPair(pair)
    const link = await requestLink(fake)
    const stolen = await control.call('POST /api/account', { body: { email: real, password, link } })
    expect(expectError(stolen, 404).code).toBe('link_invalid')
    // The owner is not affected, and the attacker cannot take the look-alike then.
    await signUp(real)
    const late = await control.call('POST /api/account', { body: { email: fake, password, link } })
    expect(expectError(late, 409).code).toBe('email_similar')
  })

  test.each(lookAlikes)('an account cannot change its address to one with %s', async (...pair) => {
    const [fake, real] = toPair(pair)
    const { id } = await signUp(real)
    const attacker = await signUp(newEmail())
    await control.call('POST /api/account/email', { body: { email: fake }, as: attacker.as })
    const { secret: link } = readLink(await control.inbox.next())
    const changed = await control.call('POST /api/account/email/verify', { body: { link }, as: attacker.as })
    expect(expectError(changed, 409).code).toBe('email_similar')
    expect(expectBody<{ account: { id: string } }>(await singleSignOn(real)).account.id).toBe(id)
  })

  test.each(lookAlikes)(
    'whoever has an address with %s first does not get the log-in of the other',
    async (...pair) => {
      const [fake, real] = toPair(pair)
      await signUp(fake)
      expect(expectError(await singleSignOn(real), 409).code).toBe('email_similar')
      const logIn = await control.call('POST /api/session', { body: { email: real, password } })
      expect(expectError(logIn, 401).code).toBe('wrong_credentials')
    },
  )

  test.each(lookAlikes)('a forgotten password with %s sends nothing to anyone', async (...pair) => {
    const [fake, real] = toPair(pair)
    await signUp(real)
    expect((await control.call('POST /api/account/password/forgot', { body: { email: fake } })).status).toBe(204)
    await control.inbox.waitUntilSent()
    expect(control.inbox.emails).toEqual([])
  })

  test.each(lookAlikes)('an invite for an address is not for one with %s', async (...pair) => {
    const [fake, real] = toPair(pair)
    const { text: invite } = expectOk(await control.accounts.operator.inviteUser({ email: real }))
    control.config.signUp = 'invite'
    const response = await singleSignOn(fake)
    control.config.signUp = 'open'
    // Single sign-on keeps the invite in the browser, so it is missing here.
    expect(expectError(response, 403).code).toBe('invite_required')
    control.config.signUp = 'invite'
    const link = await control.call('POST /api/account/sign-up-link', { body: { email: fake, invite } })
    control.config.signUp = 'open'
    expect(expectError(link, 403).code).toBe('invite_invalid')
  })

  test.each(lookAlikes)('an operator finds no account by an address with %s', async (...pair) => {
    const [fake, real] = toPair(pair)
    const { id } = await signUp(real)
    expect(await control.accounts.operator.findUser({ email: fake })).toBeUndefined()
    expect(await control.accounts.operator.findUser({ email: real })).toMatchObject({ id })
  })

  test.each([
    'ann@ex%61mple.com',
    'ann@127.1',
    'ann@0x7f.1',
    'ann@[::1]',
    'ann@a.example@b.example',
    'an\u{202e}n@a.example',
  ])('the provider cannot assert %j, nor can anyone sign up with it', async (email) => {
    expect(expectError(await singleSignOn(email), 403).code).toBe('single_sign_on_email_unverified')
    const link = await control.call('POST /api/account/sign-up-link', { body: { email } })
    expect(expectError(link, 422).code).toBe('email_invalid')
  })

  test('a domain is the same in all its forms', async () => {
    const { id } = await signUp('ann@b\u{fc}cher.example')
    expect(await control.accounts.operator.findUser({ email: 'ANN@XN--BCHER-KVA.example' })).toMatchObject({ id })
    const response = await singleSignOn('ann@xn--bcher-kva.example')
    expect(expectBody<{ account: { id: string } }>(response).account.id).toBe(id)
    await control.call('POST /api/account/sign-up-link', { body: { email: 'ann@Bu\u{308}cher.example' } })
    expect((await control.inbox.next()).subject).toContain('You already have an account')
  })

  test('a link to a look-alike does not remove the link that the owner got', async () => {
    const link = await requestLink('links@corp.example')
    await requestLink('l\u{131}nks@corp.example')
    const response = await control.call('POST /api/account', { body: { email: 'links@corp.example', password, link } })
    expect(response.status).toBe(201)
  })
})
