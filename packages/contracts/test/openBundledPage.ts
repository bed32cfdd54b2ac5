import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { build } from 'esbuild'

/** A page in Chromium that runs one module. */
export interface BundledPage<Report> {
  /** Returns what the module has put into `globalThis.report`. */
  readonly getReport: () => Promise<Report>
  /** The messages of uncaught errors. */
  readonly thrown: readonly string[]
  readonly close: () => Promise<void>
}

/**
 * Bundles a module for browsers, with the sources of this repository, and opens a page that runs it.
 *
 * @param entry - The path of the module.
 * @param query - The query of the page's URL.
 */
export async function openBundledPage<Report>(
  entry: string,
  query: Readonly<Record<string, string>>,
): Promise<BundledPage<Report>> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@keyrail/source'],
    logLevel: 'silent',
  })
  const server = createServer(({ url }, response) => {
    const isPage = url?.startsWith('/?')
    response
      .writeHead(200, { 'content-type': isPage ? 'text/html' : 'text/javascript' })
      .end(isPage ? '<!doctype html><script type="module" src="/page.js"></script>' : outputFiles[0]?.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await openBrowser()
  const page = await browser.newPage()
  const thrown: string[] = []
  page.on('pageerror', (error) => thrown.push(error.message))
  const { port } = server.address() as AddressInfo
  await page.goto(`http://127.0.0.1:${port}/?${new URLSearchParams(query).toString()}`)
  return {
    getReport: async () => (await page.evaluate('globalThis.report')) as Report,
    thrown,
    close: async () => {
      await browser.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
