import type { Browser } from 'playwright-core'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { startReceiver } from '@keyrail/gateway/test/alerts/startReceiver.ts'
import type { Receiver } from '@keyrail/gateway/test/alerts/startReceiver.ts'
import { verifyWebhook } from '@keyrail/gateway/test/alerts/verifyWebhook.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callApi, clipboard, signUpByApi, openUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

describe('alerts', needs('chromium'), () => {
  let receiver: Receiver
  let pages: Pages
  let browser: Browser
  let ada: TestUser

  beforeAll(async () => {
    receiver = await startReceiver()
    ;[pages, browser] = await Promise.all([startPages({ webhooks: { allowPrivateAddresses: true } }), openBrowser()])
    ada = await openUser(browser, pages.url)
    await signUpByApi(ada, pages.url)
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
    await receiver.close()
  })

  test('a webhook is added, tested with its secret, rotated and removed', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/account/alerts`)
    await page.getByText('This service sends no email.').waitFor()
    await page.getByText('No alert was sent yet.').waitFor()
    await page.getByLabel('URL').fill('ftp://example.org')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByText('must be an http or https URL').waitFor()
    const url = `${receiver.url}/keyrail`
    await page.getByLabel('URL').fill(url)
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByRole('button', { name: 'Copy: the secret' }).click()
    await page.getByText('Copied: the secret').waitFor()
    const secret = await clipboard(ada)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)

    const expectSignedBy = async (key: string): Promise<void> => {
      await page.getByRole('button', { name: `Test ${url}` }).click()
      await expect.poll(() => receiver.requests.length).toBe(1)
      const [request] = receiver.requests.splice(0)
      expect(verifyWebhook(request, key)).toMatchObject({
        type: 'webhook.test',
        data: { user: { email: ada.email } },
      })
    }
    await expectSignedBy(secret)
    await page.getByText('The test event was received: HTTP 204').waitFor()

    await page.getByRole('button', { name: `Rotate secret of ${url}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Copy: the secret' }).click()
    await expect.poll(() => clipboard(ada)).not.toBe(secret)
    await expectSignedBy(await clipboard(ada))
    // The old one works for another day.
    await expectSignedBy(secret)

    receiver.statuses.push(500)
    await page.getByRole('button', { name: `Test ${url}` }).click()
    await page.getByText('The test event failed: HTTP 500').waitFor()

    await pages.reload({ webhooks: { allowPrivateAddresses: false } })
    await page.getByRole('button', { name: `Test ${url}` }).click()
    await page.getByText('The URL must be an https URL').waitFor()
    expect(receiver.requests.splice(0)).toHaveLength(1)

    await page.getByRole('button', { name: `Remove ${url}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: `Remove ${url}` }).waitFor({ state: 'detached' })
    expect(ada.problems).toEqual([])
  })

  test('the rules of failed and slow calls are checked, saved and turned off', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/account/alerts`)
    const [failed, slow] = [page.getByLabel('Failed calls (%)'), page.getByLabel('Slow calls (ms)')]
    await failed.fill('200')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Must be a whole number from 1 to 100').waitFor()
    await failed.fill('5')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
    await page.reload()
    await expect.poll(() => failed.inputValue()).toBe('5')
    expect(await slow.inputValue()).toBe('')
    await failed.fill('')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByLabel('Minimum calls').waitFor()
    expect(await failed.inputValue()).toBe('')
    expect(ada.problems).toEqual([])
  })

  test('an operator adds a webhook about the service', async () => {
    const { page } = ada
    const { account } = await callApi<{ account: { id: string } }>(ada, pages.url, ['GET', '/api/session'])
    await pages.service.accounts.operator.setUserRole({ id: account.id, role: 'operator' })
    await page.goto(`${pages.url}/operator`)
    await page.getByRole('link', { name: 'Set up alerts' }).click()
    await page.getByLabel('URL').fill('https://hooks.example.org/keyrail')
    await page.getByRole('checkbox', { name: 'about the service' }).check()
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByRole('rowheader', { name: 'https://hooks.example.org/keyrail The service' }).waitFor()
    expect(ada.problems).toEqual([])
  })
})
