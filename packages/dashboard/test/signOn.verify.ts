import type { Browser } from 'playwright-core'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { startOidcProvider } from '@keyrail/gateway/test/oidc/startOidcProvider.ts'
import type { OidcProvider } from '@keyrail/gateway/test/oidc/startOidcProvider.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { signUpByApi, openUser, switchUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

describe('single sign-on', needs('chromium'), () => {
  let provider: OidcProvider
  let pages: Pages
  let browser: Browser
  let browserUser: TestUser
  let ada: TestUser

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
    provider = await startOidcProvider({ redirectUri: `${pages.url}/log-in/single-sign-on` })
    browserUser = await openUser(browser, pages.url)
  })
  beforeEach(async () => {
    ada = await switchUser(browserUser)
    const { email } = ada
    Object.assign(provider, { user: { sub: email, email, email_verified: true }, declines: false })
    await pages.reload({ oidc: provider.config })
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
    await provider.close()
  })
  /** The problems, without the requests to the provider. */
  const getProblems = () => ada.problems.filter((problem) => !problem.startsWith(`requests ${provider.issuer}/`))

  test('sign up with the provider, and log in to the page that was asked for', async () => {
    const { page, context } = ada
    await page.goto(`${pages.url}/sign-up`)
    await page.getByRole('button', { name: 'Continue with Example Inc.' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    expect(page.url()).not.toContain('code=')
    await context.clearCookies()
    await page.goto(`${pages.url}/account/security`)
    await page.getByRole('button', { name: 'Continue with Example Inc.' }).click()
    await page.getByRole('heading', { name: 'Security' }).waitFor()
    // There is no password to change, and the account is deleted without one.
    expect(await page.getByLabel('Password').count()).toBe(0)
    await page.getByRole('button', { name: 'Delete the account' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the account' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(getProblems()).toEqual([])
  })

  test('a log-in that fails is explained, and a reload does not repeat it', async () => {
    const { page } = ada
    provider.declines = true
    await page.goto(`${pages.url}/log-in`)
    await page.getByRole('button', { name: 'Continue with Example Inc.' }).click()
    await page.getByText('You or the provider declined the log-in').waitFor()
    expect(page.url()).toBe(`${pages.url}/log-in/single-sign-on`)
    await page.reload()
    await page.getByText('This log-in was used, has expired, or was started in another browser').waitFor()
    await page.getByRole('link', { name: 'Back to log in' }).click()
    await page.getByLabel('Password').waitFor()
    expect(getProblems()).toEqual([])
  })

  test('an account with a password is connected under Security', async () => {
    const { page, context } = ada
    await signUpByApi(ada, pages.url)
    await context.clearCookies()
    await page.goto(`${pages.url}/log-in`)
    await page.getByRole('button', { name: 'Continue with Example Inc.' }).click()
    await page.getByText('connect it under Account → Security').waitFor()
    await page.getByRole('link', { name: 'Back to log in' }).click()
    await page.getByLabel('Email address').fill(ada.email)
    await page.getByLabel('Password').fill(ada.password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    await page.goto(`${pages.url}/account/security`)
    const finished = page.waitForResponse(`${pages.url}/api/session/single-sign-on/finish`)
    await page.getByRole('button', { name: 'Connect Example Inc.' }).click()
    await finished
    await page.waitForURL(`${pages.url}/account/security`)
    await page.getByRole('heading', { name: 'Security' }).waitFor()
    await page.goto(`${pages.url}/account/audit`)
    await page.getByText('Connected single sign-on').waitFor()
    expect(getProblems()).toEqual([])
  })

  test('a reset of the password shows connected single sign-on, and can disconnect it', async () => {
    const { page, context, email } = ada
    await page.goto(`${pages.url}/log-in`)
    await page.getByRole('button', { name: 'Continue with Example Inc.' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    const { operator } = pages.service.accounts
    const user = await operator.findUser({ email })
    const link = await operator.resetLink({ id: user?.id ?? '' })
    await context.clearCookies()
    await page.goto(`${pages.url}/reset-password#${'text' in link ? link.text : ''}`)
    await page.getByText('your access tokens are removed').waitFor()
    await page.getByLabel('New password').fill('plum tin roof gate')
    await page.getByRole('button', { name: 'Set password and log in' }).click()
    await page.getByText(provider.issuer).waitFor()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByText(provider.issuer).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    expect(getProblems()).toEqual([])
  })

  test('a reset of the password succeeds if the connected single sign-on cannot be read', async () => {
    const { page, email } = ada
    await signUpByApi(ada, pages.url)
    const { operator } = pages.service.accounts
    const user = await operator.findUser({ email })
    const link = await operator.resetLink({ id: user?.id ?? '' })
    await page.context().clearCookies()
    await page.route('**/api/account/identities', (route) => route.fulfill({ status: 503, body: '' }))
    await page.goto(`${pages.url}/reset-password#${'text' in link ? link.text : ''}`)
    await page.getByLabel('New password').fill('plum tin roof gate')
    await page.getByRole('button', { name: 'Set password and log in' }).click()
    await page.getByText('The password is set, and you are logged in.').waitFor()
    expect(await page.getByLabel('New password').count()).toBe(0)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
  })

  test('without passwords, no page shows a field for one', async () => {
    const { page } = ada
    await pages.reload({ oidc: provider.config, passwordLogin: false })
    await page.goto(`${pages.url}/log-in`)
    await page.getByRole('button', { name: 'Continue with Example Inc.' }).waitFor()
    for (const path of ['log-in', 'sign-up', 'forgot-password']) {
      await page.goto(`${pages.url}/${path}`)
      await page
        .getByText(path === 'forgot-password' ? 'This service has no passwords.' : 'Continue with Example Inc.')
        .waitFor()
      expect(await page.locator('form input, input[type=password]').count()).toBe(0)
    }
    await page.goto(`${pages.url}/log-in`)
    await page.getByRole('button', { name: 'Continue with Example Inc.' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    expect(getProblems()).toEqual([])
  })
})
