import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import type { PageReport } from './browserPage.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

test('a page in Chromium works with the service worker of msw as its only node', needs('chromium'), async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'browserPage.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@keyrail/source'],
    logLevel: 'silent',
  })
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html', '<!doctype html><title>dApp</title><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', outputFiles[0]?.text ?? ''],
    '/mockServiceWorker.js': [
      'text/javascript',
      readFileSync(createRequire(import.meta.url).resolve('msw/mockServiceWorker.js'), 'utf8'),
    ],
  }
  const server = createServer((request, response) => {
    const [type, text] = files[request.url ?? ''] ?? ['text/plain', '']
    response.writeHead(text === '' ? 404 : 200, { 'content-type': type }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.waitForFunction('globalThis.report !== undefined')
    const report = (await page.evaluate('globalThis.report')) as PageReport
    expect(report).toEqual({
      head: '0x0',
      batch: ['0x7a69', '31337'],
      recovered: '0x0',
      broken: 'network',
      hanging: 'timeout',
      wrongKey: 'auth',
      status: 'success',
      values: ['5'],
      reverted: true,
      lost: null,
      watched: ['-1', '0'],
      saved: expect.stringContaining('save cannot write a file in a browser'),
      replayed: expect.stringContaining('replay cannot read a file in a browser'),
      seen: true,
    })
    expect(errors).toEqual([])
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
})
