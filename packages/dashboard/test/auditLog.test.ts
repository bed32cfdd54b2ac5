import { text as readText } from 'node:stream/consumers'
import type { Browser } from 'playwright-core'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addApp, signUpByApi, openUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

describe('the audit log', needs('chromium'), () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
    ada = await openUser(browser, pages.url)
    await signUpByApi(ada, pages.url)
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('is filtered by kind, also in the URL, and downloads what is shown', async () => {
    const { page } = ada
    await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/account/audit`)
    await page.getByText('Signed up').waitFor()
    await page.getByLabel('Show').selectOption('Apps')
    await page.getByText('Signed up').waitFor({ state: 'detached' })
    await page.getByText('Created an app').waitFor()
    expect(new URL(page.url()).search).toBe('?action=app')
    await page.reload()
    await page.getByText('Created an app').waitFor()
    // By name, with links.
    const row = page.getByRole('row', { name: /Created an app/ })
    await row.getByRole('link', { name: ada.email }).waitFor()
    expect(await row.getByRole('link', { name: 'Portfolio' }).getAttribute('href')).toMatch(/^\/apps\/app_/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV: audit log' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('keyrail-audit-log.csv')
    const rows = (await readText(await download.createReadStream())).trimEnd().split('\r\n')
    expect(rows.map((row) => row.split(',')[3])).toEqual(['action', 'app.create'])
    await page.getByLabel('Show').selectOption('Webhooks')
    await page.getByText('No such changes yet.').waitFor()
    expect(ada.problems).toEqual([])
  })
})
