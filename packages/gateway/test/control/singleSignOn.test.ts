import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import type { SignOnView } from '../../src/control/contract/controlApi.d.ts'
import { newEmail } from '../account/accountFixture.ts'
import { startOidcProvider } from '../oidc/startOidcProvider.ts'
import type { OidcProvider } from '../oidc/startOidcProvider.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { findResponseProblems } from './findResponseProblems.ts'
import { startControl } from './startControl.ts'
import type { StartedControl, TestResponse } from './startControl.ts'
import { password } from './accountFixture.ts'

const startRoute = 'POST /api/session/single-sign-on'
const finishRoute = 'POST /api/session/single-sign-on/finish'

describe.each(suiteDatabases)('routes of single sign-on on $name', (database) => {
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
    Object.assign(provider, { fault: undefined, user: { sub: newEmail(), email: newEmail(), email_verified: true } })
    control.oidc.config = provider.config
    control.config.passwordLogin = true
  })

  const getCookie = ({ headers }: TestResponse, name: string) =>
    headers.getSetCookie().find((line) => line.startsWith(`keyrail-${name}=`)) ?? ''
  const getCode = ({ body }: TestResponse) => (body as Partial<ApiErrorView> | undefined)?.error?.code
  const start = async () => {
    const response = await control.call(startRoute)
    expect(findResponseProblems(startRoute, response)).toEqual([])
    return response
  }
  /** Logs in at the provider. @returns What the browser gets from it and stores. */
  const visit = async () => {
    const started = await start()
    const { url } = started.body as SignOnView
    const [cookie = ''] = getCookie(started, 'sign-on').split(';')
    return { cookie, response: (await provider.visit(url)).search }
  }
  const finish = async (cookie: string, response: string, headers = {}) => {
    const finished = await control.call(finishRoute, {
      body: { response },
      as: { cookie },
      headers,
    })
    expect(findResponseProblems(finishRoute, finished)).toEqual([])
    return finished
  }

  test('a browser logs in; neither responses nor logs have a code, a token or the client secret', async () => {
    expect(getCookie(await start(), 'sign-on')).toMatch(
      /^keyrail-sign-on=\d{13}\.[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    )
    const { cookie, response } = await visit()
    const finished = await finish(cookie, response)
    expect(finished).toMatchObject({
      status: 200,
      body: { account: { email: provider.user.email, emailVerified: true, hasPassword: false } },
    })
    expect(getCookie(finished, 'sign-on')).toContain('keyrail-sign-on=; Path=/; Expires=Thu, 01 Jan 1970')
    const [session = ''] = getCookie(finished, 'session').split(';')
    expect((await control.call('GET /api/session', { as: { cookie: session } })).status).toBe(200)
    const { body } = await control.call('GET /api/deployment')
    expect(body).toMatchObject({ passwordLogin: true, singleSignOn: { label: 'Example Inc.' } })
    const written = control.seen.join('\n') + JSON.stringify(control.logs)
    const code = new URLSearchParams(response).get('code') ?? 'no code'
    for (const secret of [code, provider.config.clientSecret]) expect(written).not.toContain(secret)
    expect(JSON.stringify(control.logs)).not.toMatch(/state=|code=/)
  })

  test('another site cannot start or finish a log-in', async () => {
    const { cookie, response } = await visit()
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect(getCode(await control.call(startRoute, { headers: foreign }))).toBe('cross_site')
    expect(getCode(await finish(cookie, response, foreign))).toBe('cross_site')
    expect((await finish(cookie, response)).status).toBe(200)
  })

  test("a browser without the log-in's cookie, with two of them, or with another one is rejected", async () => {
    const [one, two] = [await visit(), await visit()]
    for (const cookie of ['', two.cookie, `${one.cookie}; ${two.cookie}`, 'keyrail-sign-on=x']) {
      const rejected = await finish(cookie, one.response)
      expect([rejected.status, getCode(rejected)]).toEqual([403, 'single_sign_on_invalid'])
      expect(getCookie(rejected, 'session')).toBe('')
      expect(getCookie(rejected, 'sign-on')).toContain('keyrail-sign-on=; ')
    }
  })

  test('no response redirects, and no request can name where to go on', async () => {
    const { cookie, response } = await visit()
    const evil = 'https://evil.example'
    const named = { body: { response, back: evil } as never, as: { cookie } }
    expect((await control.call(finishRoute, named)).status).toBe(422)
    const finished = await finish(cookie, `${response}&redirect_uri=${evil}&back=${evil}`)
    expect([finished.status, finished.headers.get('location')]).toEqual([200, null])
    expect(finished.text).not.toContain('evil')
  })

  test('a provider that is down is reported, and passwords still work', async () => {
    const { cookie, response } = await visit()
    provider.fault = { at: '/token', status: 503 }
    const finished = await finish(cookie, response)
    expect([finished.status, getCode(finished)]).toEqual([503, 'single_sign_on_unavailable'])
    expect(finished.headers.get('retry-after')).not.toBeNull()
    const email = newEmail()
    expect((await control.call('POST /api/account', { body: { email, password } })).status).toBe(201)
    expect((await control.call('POST /api/session', { body: { email, password } })).status).toBe(200)
  })

  test('an account without a password is deleted without one', async () => {
    const { cookie, response } = await visit()
    const [session = ''] = getCookie(await finish(cookie, response), 'session').split(';')
    const deleted = await control.call('POST /api/account/delete', { body: {}, as: { cookie: session } })
    expect(deleted.status).toBe(204)
  })

  test('an account with a password is not deleted without it', async () => {
    const signedUp = await control.call('POST /api/account', { body: { email: newEmail(), password } })
    const [session = ''] = getCookie(signedUp, 'session').split(';')
    const as = { cookie: session }
    expect(getCode(await control.call('POST /api/account/delete', { body: {}, as }))).toBe('confirm_required')
    expect((await control.call('POST /api/account/delete', { body: { password }, as })).status).toBe(204)
  })

  test('without a provider, the dashboard offers none', async () => {
    control.oidc.config = undefined
    expect(getCode(await start())).toBe('single_sign_on_disabled')
    expect((await control.call('GET /api/deployment')).body).toMatchObject({ singleSignOn: null })
  })
})
