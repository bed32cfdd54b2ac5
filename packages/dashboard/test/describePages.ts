import { noBrowser, openBrowser } from '@keyrail/core/test/openBrowser.ts'
import type { ServiceConfigInput } from '@keyrail/gateway'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { enrol, openPerson, takeSeat } from './person.ts'
import type { Person } from './person.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'

/** The fixtures of each test of `describePages`. */
export interface Given {
  readonly pages: Pages
  /** Logged in to a new account. */
  readonly ada: Person
}

/**
 * Describes tests in Chromium against one service. Each test has a new account, and is skipped without a browser.
 * @param getGiven - Call it in a test.
 */
export function describePages(
  title: string,
  config: Partial<ServiceConfigInput>,
  define: (getGiven: () => Given) => void,
): void {
  describe.skipIf(noBrowser)(title, { timeout: 60_000 }, () => {
    let pages: Pages
    let browser: Browser
    let seat: Person
    let ada: Person
    beforeAll(async () => {
      ;[pages, browser] = await Promise.all([startPages(config), openBrowser()])
      seat = await openPerson(browser, pages.url)
    }, 60_000)
    beforeEach(async () => {
      ada = await takeSeat(seat)
      // Below the limit of a test, so that a failure names its line.
      ada.page.setDefaultTimeout(20_000)
      await enrol(ada, pages.url)
    })
    afterAll(async () => {
      await browser.close()
      await pages.stop()
    })
    define(() => ({ pages, ada }))
  })
}
