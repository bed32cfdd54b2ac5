import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { sharedResource } from './sharedResource.ts'
import { getProgram } from '../../../scripts/externalPrograms.ts'

const options = () => {
  return {
    executablePath: getProgram('chromium'),
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
