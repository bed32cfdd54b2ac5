import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import type { ServiceConfigInput } from '@keyrail/gateway/test/internal.ts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { signUpByApi, openUser, switchUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

/** The fixtures of each test of `describePages`. */
export interface Fixtures {
  readonly pages: Pages
  /** Logged in to a new account. */
  readonly ada: TestUser
}

/**
 * Describes tests in Chromium against one service. Each test has a new account, and is skipped without a browser.
 * @param getFixtures - Call it in a test.
 */
export function describePages(
  title: string,
  config: Partial<ServiceConfigInput>,
  define: (getFixtures: () => Fixtures) => void,
): void {
  describe(title, needs('chromium'), () => {
    let pages: Pages
    let browser: Browser
    let browserUser: TestUser
    let ada: TestUser
    beforeAll(async () => {
      ;[pages, browser] = await Promise.all([startPages(config), openBrowser()])
      browserUser = await openUser(browser, pages.url)
    })
    beforeEach(async () => {
      ada = await switchUser(browserUser)
      await signUpByApi(ada, pages.url)
    })
    afterAll(async () => {
      await browser.close()
      await pages.stop()
    })
    define(() => ({ pages, ada }))
  })
}
