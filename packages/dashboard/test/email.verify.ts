import type { Browser } from 'playwright-core'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { startSmtpServer } from '@keyrail/gateway/test/email/startSmtpServer.ts'
import type { ReceivedEmail, SmtpServer } from '@keyrail/gateway/test/email/startSmtpServer.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { logIn, openUser, switchUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

/** The link in an email. */
const readLink = ({ source }: ReceivedEmail): string => /^https?:\/\/\S+/m.exec(source)?.[0] ?? ''

describe('emails', needs('chromium'), () => {
  let smtp: SmtpServer
  let pages: Pages
  let browser: Browser
  let browserUser: TestUser
  let ada: TestUser

  beforeAll(async () => {
    smtp = await startSmtpServer()
    const email = { smtp: { host: '127.0.0.1', port: smtp.port, secure: 'none' as const }, from: 'keyrail@example.org' }
    ;[pages, browser] = await Promise.all([startPages({ email }), openBrowser()])
    browserUser = await openUser(browser, pages.url)
  })
  beforeEach(async () => {
    ada = await switchUser(browserUser)
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
    await smtp.close()
  })

  /** Signs up by the link in an email. */
  const signUp = async ({ page, email, password }: TestUser): Promise<void> => {
    await page.goto(`${pages.url}/sign-up`)
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(`We sent an email to ${email}`).waitFor()
    // A link to the page that is open would only change its fragment.
    await page.goto('about:blank')
    await page.goto(readLink(await smtp.next()))
    expect(await page.getByLabel('Email address').inputValue()).toBe(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
  }

  test('sign up by email, forget the password, set a new one', async () => {
    const { page, email } = ada
    await signUp(ada)
    await ada.context.clearCookies()
    await page.goto(`${pages.url}/log-in`)
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    // The log-in page, which is shown until this one is loaded, has a field with the same label.
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor()
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByText(`If ${email} has an account`).waitFor()
    await page.goto(readLink(await smtp.next()))
    await page.getByLabel('New password').fill('another horse battery')
    await page.getByRole('button', { name: 'Set password and log in' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    expect((await smtp.next()).source).toContain('was changed')
    expect(ada.problems).toEqual([])
  })

  test('change the email address', async () => {
    const { page, email, password } = ada
    await signUp(ada)
    await page.goto(`${pages.url}/account/security`)
    await page.getByText('The address is confirmed.').waitFor()
    await page.getByRole('textbox', { name: 'Email address' }).fill(`new-${email}`)
    await page.getByRole('button', { name: 'Send a link to the new address' }).click()
    await page.getByText(`We sent a link to new-${email}`).waitFor()
    const link = readLink(await smtp.next())
    // Confirming it needs a session of the account.
    const other = await openUser(browser, pages.url)
    await other.page.goto(link)
    await other.page.getByText('Log in to the account that the address is for').waitFor()
    await other.close()
    await page.goto(link)
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByText(`new-${email} is confirmed`).waitFor()
    expect((await smtp.next()).to).toEqual([email])
    await ada.context.clearCookies()
    await page.goto(`${pages.url}/log-in`)
    await logIn({ ...ada, email: `new-${email}`, password })
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    expect(ada.problems).toEqual([])
  })

  test('an invite by email', async () => {
    const { page, email } = ada
    await signUp(ada)
    const account = await pages.service.accounts.operator.findUser({ email })
    await pages.service.accounts.operator.setUserRole({ id: account?.id ?? '', role: 'operator' })
    await page.goto(`${pages.url}/operator/invites`)
    const invited = `invited-${email}`
    await page.getByLabel('Only for this email address').fill(invited)
    await page.getByLabel('Send the invite by email').check()
    await page.getByRole('button', { name: 'Create invite' }).click()
    await page.getByText('Invite sent').waitFor()
    const message = await smtp.next()
    await pages.reload({ signUp: 'invite' })
    expect(message.to).toEqual([invited])
    await ada.context.clearCookies()
    await page.goto(readLink(message))
    await page.getByLabel('Password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    expect(ada.problems).toEqual([])
  })
})
