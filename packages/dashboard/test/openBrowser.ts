import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** Where everything is to be tested, a browser that is missing is a failure. */
const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'

/** Whether tests in a browser are left out: this machine has none, and not everything must be tested. */
export const noBrowser = executablePath === undefined && !mustRun
if (noBrowser)
  process.stdout.write(
    'dashboard: no Chromium on this machine, so no page is tested (Debian: apt-get install chromium)\n',
  )

/** Opens Chromium, without a window. */
export async function openBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('there is no Chromium: apt-get install chromium')
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
