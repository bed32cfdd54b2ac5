import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { sharedResource } from './sharedResource.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** With KEYRAIL_TEST_ALL, a missing browser is a failure. */
const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'

/** Whether to skip tests that need a browser: this machine has none. */
export const noBrowser = executablePath === undefined && !mustRun
if (noBrowser)
  process.stdout.write('Skipped: tests in a browser. There is no Chromium (Debian: apt-get install chromium)\n')

const options = () => {
  if (executablePath === undefined) throw new Error('There is no Chromium (Debian: apt-get install chromium)')
  return {
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
  }
}

/** One Chromium for all test files. */
const chromiumServer = sharedResource('BROWSER', async () => {
  const server = await chromium.launchServer(options())
  return { lend: () => server.wsEndpoint(), stop: () => server.close() }
})

export const setup = chromiumServer.setup

/** Connects to the Chromium of the test run, or starts one outside of a test run. Closing it closes only its own pages. */
export async function openBrowser(): Promise<Browser> {
  return chromiumServer.isSetUp() ? chromium.connect(await chromiumServer.borrow()) : chromium.launch(options())
}
