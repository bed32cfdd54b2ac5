import { getAppCode, stepMs } from '@keyrail/gateway/test/account/appCode.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { colorRules, findViolations, setColorScheme } from './findViolations.ts'
import { addApp, clipboard, logIn, openUser, signUpByApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

/** An authenticator of Chromium. */
interface Device {
  readonly cdp: CDPSession
  readonly authenticatorId: string
}

describe('second factors', needs('chromium'), () => {
  let aheadMs = 0
  let pages: Pages
  /** Passkeys need a domain. */
  let site: string
  let browser: Browser
  let ada: TestUser

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages({}, () => Date.now() + aheadMs), openBrowser()])
    site = pages.url.replace('127.0.0.1', 'localhost')
  })
  // A context of its own for each test: an authenticator belongs to a page.
  beforeEach(async () => {
    ada = await openUser(browser, site)
    await signUpByApi(ada, site)
  })
  afterEach(() => ada.close())
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  const addDevice = async (
    { page, context }: TestUser,
    transport: 'internal' | 'usb' = 'internal',
  ): Promise<Device> => {
    const cdp = await context.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport,
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return { cdp, authenticatorId }
  }
  const removeDevice = ({ cdp, authenticatorId }: Device) =>
    cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })

  const openSecurity = async ({ page }: TestUser): Promise<void> => {
    await page.goto(`${site}/account/security`)
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
  }
  const addPasskey = async (user: TestUser, name: string): Promise<void> => {
    const { page } = user
    await openSecurity(user)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a passkey' })
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByRole('button', { name: 'Create the passkey' }).click()
    await page.getByRole('button', { name: `Remove ${name}` }).waitFor()
  }
  /** Adds an authenticator app. @returns Its secret, and the recovery codes. */
  const addAppFactor = async (page: Page): Promise<{ secret: string; codes: readonly string[] }> => {
    await page.getByRole('button', { name: 'Add an authenticator app' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add an authenticator app' })
    const secret = (await dialog.locator('.address code').textContent()) ?? ''
    await dialog.getByLabel('Code', { exact: true }).fill(getAppCode(secret, Date.now() + aheadMs))
    await dialog.getByRole('button', { name: 'Add the app' }).click()
    await page.getByText('Save these recovery codes').waitFor()
    const codes = await page.locator('.codes code').allTextContents()
    // The code is used up.
    aheadMs += stepMs
    return { secret, codes }
  }
  const logOut = ({ context }: TestUser) => context.clearCookies()
  const enterPassword = async (user: TestUser, path = '/account/security'): Promise<void> => {
    await user.page.goto(site + path)
    await logIn(user)
    await user.page.getByRole('heading', { name: 'Second factor' }).waitFor()
    expect(user.page.url()).toContain('/log-in/second-factor')
  }
  const expectAccessible = async (page: Page): Promise<void> => {
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await findViolations(page)).toEqual([])
      await setColorScheme(page, 'dark')
      expect(await findViolations(page, colorRules)).toEqual([])
      await setColorScheme(page, 'light')
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  }

  test('an authenticator app: add it, log in, prove it again, and use recovery codes', async () => {
    const { page } = ada
    const appId = await addApp(ada, site, 'Portfolio')
    await openSecurity(ada)
    await page.getByRole('button', { name: 'Add an authenticator app' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add an authenticator app' })
    await dialog.getByRole('img', { name: 'QR code of the secret' }).waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Add the app' }).click()
    await dialog.getByText('Enter the code that the app shows').waitFor()
    await dialog.getByLabel('Code', { exact: true }).fill('12345')
    await dialog.getByRole('button', { name: 'Add the app' }).click()
    await dialog.getByText('The code or passkey is wrong').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    const { secret, codes } = await addAppFactor(page)
    expect(codes).toHaveLength(10)
    await expectAccessible(page)

    await logOut(ada)
    await enterPassword(ada, `/apps/${appId}/networks`)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Enter a code').waitFor()
    await page.getByLabel('Code').fill('000000')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The code or passkey is wrong').waitFor()
    await page.getByLabel('Code').fill(getAppCode(secret, Date.now() + aheadMs))
    await page.getByRole('button', { name: 'Continue' }).click()
    // The page that was asked for.
    await page.waitForURL(`${site}/apps/${appId}/networks`)

    // A key is shown for 10 minutes, then the factor is asked for, not the password.
    aheadMs += 10 * 60_000
    await page.getByRole('button', { name: 'Show URLs' }).click()
    const proof = page.getByRole('dialog', { name: 'Your second factor' })
    await proof.getByLabel('Code').waitFor()
    expect(await proof.getByLabel('Password').count()).toBe(0)
    await expectAccessible(page)
    await proof.getByRole('button', { name: 'Cancel' }).click()
    await proof.waitFor({ state: 'detached' })
    expect(await page.locator('main').textContent()).not.toMatch(/kr_a\w{39}/)
    await page.getByRole('button', { name: 'Show URLs' }).click()
    await proof.getByLabel('Code').fill(codes[0] ?? '')
    await proof.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(/^http:.*\/testnet\/v2\/kr_a\w{39}/).waitFor()

    // New recovery codes replace the old ones.
    await openSecurity(ada)
    await page.getByText('9 recovery codes are left.').waitFor()
    await page.getByRole('button', { name: 'Create new recovery codes' }).click()
    await page.getByText('10 recovery codes are left.').waitFor()
    expect(await page.locator('.codes code').allTextContents()).not.toContain(codes[1])
    await page.goto(`${site}/account/audit`)
    await page.getByText('Used a recovery code').waitFor()
    await page.getByText('Added a second factor').waitFor()
    expect(ada.problems).toEqual([])
  })

  test('passkeys: as the second step, alone, cancelled, removed', async () => {
    const { page } = ada
    const device = await addDevice(ada)
    await addPasskey(ada, 'Laptop')
    await page.getByText('Save these recovery codes').waitFor()
    await logOut(ada)
    await enterPassword(ada)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Security' }).waitFor()

    await logOut(ada)
    await page.goto(`${site}/account/security`)
    await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor()
    await expectAccessible(page)
    // The user does not pass the check of the device.
    await device.cdp.send('WebAuthn.setUserVerified', { ...device, isUserVerified: false } as never)
    await page.getByRole('button', { name: 'Log in with a passkey' }).click()
    await page.getByText('The passkey was not used').waitFor()
    await device.cdp.send('WebAuthn.setUserVerified', { ...device, isUserVerified: true } as never)
    await page.getByRole('button', { name: 'Log in with a passkey' }).click()
    await page.getByRole('heading', { name: 'Security' }).waitFor()

    // The same device cannot be added twice.
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a passkey' })
    await dialog.getByRole('button', { name: 'Create the passkey' }).click()
    await dialog.getByText('This device already has a passkey').waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    // Without the last factor, the password is enough, and the passkey is unknown.
    await page.getByRole('button', { name: 'Remove Laptop' }).click()
    await page.getByRole('dialog').getByText('log-in then needs only the password').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('button', { name: 'Remove Laptop' }).waitFor({ state: 'detached' })
    await logOut(ada)
    await page.goto(`${site}/account/security`)
    await page.getByRole('button', { name: 'Log in with a passkey' }).click()
    await page.getByText('The code or passkey is wrong').waitFor()
    await logIn(ada)
    await page.getByRole('heading', { name: 'Security' }).waitFor()
    expect(ada.problems).toEqual([])
  })

  test('passkeys: two devices, another browser, and another origin', async () => {
    const { page } = ada
    const laptop = await addDevice(ada)
    await addPasskey(ada, 'Laptop')
    const codes = await page.locator('.codes code').allTextContents()
    await removeDevice(laptop)
    await addDevice(ada, 'usb')
    await addPasskey(ada, 'Security key')
    await logOut(ada)
    // Only the second device is here.
    await enterPassword(ada)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Security' }).waitFor()

    const elsewhere = { ...(await openUser(browser, site)), email: ada.email, password: ada.password }
    try {
      await addDevice(elsewhere)
      await enterPassword(elsewhere)
      await elsewhere.page.getByRole('button', { name: 'Use a passkey' }).click()
      await elsewhere.page.getByText('The passkey was not used').waitFor()
      // Its log-in cannot be finished from here.
      await logOut(ada)
      await page.goto(`${site}/log-in/second-factor`)
      await page.getByText('This log-in was used, has expired, or was started in another browser').waitFor()
      await elsewhere.page.getByLabel('Recovery code').fill(codes[0] ?? '')
      await elsewhere.page.getByRole('button', { name: 'Continue' }).click()
      await elsewhere.page.getByRole('heading', { name: 'Security' }).waitFor()
    } finally {
      await elsewhere.close()
    }

    // At an IP address, the same service has no passkeys.
    await page.goto(`${pages.url}/log-in`)
    await logIn(ada)
    await page.getByLabel('Recovery code').fill(codes[1] ?? '')
    expect(await page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
  })

  test('a cloned passkey is rejected', async () => {
    const { page } = ada
    const { cdp, authenticatorId } = await addDevice(ada)
    await addPasskey(ada, 'Key')
    await logOut(ada)
    await page.goto(`${site}/log-in`)
    await page.getByRole('button', { name: 'Log in with a passkey' }).click()
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    const [credential] = credentials
    if (credential === undefined) throw new Error('the authenticator has no passkey')
    await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId: credential.credentialId })
    await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential, signCount: 0 } })
    await logOut(ada)
    await page.goto(`${site}/log-in`)
    await page.getByRole('button', { name: 'Log in with a passkey' }).click()
    await page.getByText('Another device has used a copy of this passkey').waitFor()
    expect(ada.problems).toEqual([])
  })

  test('a team requires a factor of its members, who keep their own accounts', async () => {
    const { page } = ada
    await page.goto(`${site}/account/members`)
    await page.getByLabel('Name').fill('Acme')
    await page.getByRole('button', { name: 'Create team' }).click()
    await page.waitForURL(/\/apps/)
    const openMembers = () => page.goto(`${site}/account/members`)
    const require = page.getByRole('button', { name: 'Require a second factor', exact: true })
    await openMembers()
    await require.click()
    await page.getByText('This needs an account with a second factor').waitFor()
    await openSecurity(ada)
    const { codes } = await addAppFactor(page)

    const grace = await openUser(browser, site)
    try {
      await signUpByApi(grace, site)
      await openMembers()
      await page.getByLabel('Email address').fill(grace.email)
      await page.getByRole('button', { name: 'Create invite' }).click()
      await page.getByRole('button', { name: 'Copy: the invite' }).click()
      const link = new URL(await clipboard(ada))
      await grace.page.goto(`${site}${link.pathname}${link.hash}`)
      await grace.page.getByRole('button', { name: 'Join the team' }).click()
      await grace.page.getByRole('heading', { name: 'Apps', exact: true }).waitFor()

      aheadMs += 10 * 60_000
      await require.click()
      const proof = page.getByRole('dialog', { name: 'Your second factor' })
      await proof.getByLabel('Code').fill(codes[0] ?? '')
      await proof.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: 'Stop requiring a second factor' }).waitFor()
      await expectAccessible(page)

      await grace.page.goto(`${site}/apps`)
      await grace.page.getByText('The team Acme requires one of its members').waitFor()
      await expectAccessible(grace.page)
      await grace.page.getByRole('button', { name: 'Use your personal account' }).click()
      await grace.page.getByRole('heading', { name: 'Apps', exact: true }).waitFor()
      await grace.page.getByRole('combobox', { name: 'Account' }).selectOption('Acme')
      await grace.page.getByRole('heading', { name: 'Add a second factor' }).waitFor()
      await addAppFactor(grace.page)
      await grace.page.getByRole('button', { name: 'Continue' }).click()
      await grace.page.getByRole('heading', { name: 'Create your first app' }).waitFor()
      expect([...ada.problems, ...grace.problems]).toEqual([])
    } finally {
      await grace.close()
    }
  })

  test('a required factor is asked for before anything else, and an operator resets it', async () => {
    const { page } = ada
    await pages.reload({ requireSecondFactor: 'all' })
    try {
      await page.goto(`${site}/apps`)
      await page.getByRole('heading', { name: 'Add a second factor' }).waitFor()
      expect(page.url()).toBe(`${site}/second-factor`)
      await expectAccessible(page)
      const { codes } = await addAppFactor(page)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('heading', { name: 'Create your first app' }).waitFor()

      const { operator } = pages.service.accounts
      const user = await operator.findUser({ email: ada.email })
      await operator.setUserRole({ id: user?.id ?? '', role: 'operator' })
      const grace = await openUser(browser, site)
      try {
        await signUpByApi(grace, site)
        await grace.page.goto(`${site}/apps`)
        await addAppFactor(grace.page)
        await page.goto(`${site}/operator/users`)
        await page.getByLabel('Find by email address').fill(grace.email)
        await page.getByRole('link', { name: grace.email }).click()
        await page.getByRole('button', { name: 'Remove the second factors' }).click()
        await expectAccessible(page)
        aheadMs += 10 * 60_000
        await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
        const proof = page.getByRole('dialog', { name: 'Your second factor' })
        await proof.getByLabel('Code').fill(codes[0] ?? '')
        await proof.getByRole('button', { name: 'Continue' }).click()
        await page.getByText('Second factors removed').waitFor()
        await grace.page.goto(`${site}/apps`)
        await grace.page.getByRole('heading', { name: 'Log in' }).waitFor()
        await logIn(grace)
        await grace.page.getByRole('heading', { name: 'Add a second factor' }).waitFor()
      } finally {
        await grace.close()
      }
    } finally {
      await pages.reload({})
    }
  })
})
