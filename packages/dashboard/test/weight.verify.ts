import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { borrowPages } from './lendPages.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { signUpByApi, openUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

/** As `staticFiles.ts` of the gateway compresses. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

describe('the build', () => {
  const own = mkdtempSync(join(tmpdir(), 'keyrail-weight-'))
  let folder = ''
  let html = ''

  beforeAll(async () => {
    folder = await borrowPages(own)
    html = readFileSync(join(folder, 'index.html'), 'utf8')
  })
  afterAll(() => rmSync(own, { recursive: true, force: true }))

  /** A script and its static imports. */
  const withImports = (file: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(file)) return seen
    seen.add(file)
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+\.js)["']/g)) {
      withImports(`assets/${name}`, seen)
    }
    return seen
  }

  /** The scripts that are loaded before the first page is visible. */
  const getFirst = (): Set<string> => {
    const scripts = [...html.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(([, file = '']) => file)
    return new Set(scripts.flatMap((file) => [...withImports(file)]))
  }

  /** The size of files as the service sends them, in bytes. */
  const getSize = (files: Iterable<string>): number =>
    [...files].reduce((sum, file) => sum + brotliCompressSync(readFileSync(join(folder, file)), brotli).length, 0)

  /** The files that are needed to paint the heading of the shell. */
  const getShell = (): readonly string[] => {
    const styles = [...html.matchAll(/rel="stylesheet"[^>]* href="\/([^"]+\.css)"/g)].map(([, file = '']) => file)
    expect(styles.length).toBe(1)
    return ['index.html', 'start.js', ...styles]
  }

  test('the first heading needs at most 12 kB, and the first page at most 150 kB, with brotli', () => {
    const scripts = getFirst()
    expect(scripts.size).toBeGreaterThan(1)
    const [shell, page] = [getSize(getShell()), getSize([...getShell(), ...scripts])]
    console.log(`dashboard: the first heading needs ${shell} bytes, the first page ${page}`)
    expect(shell).toBeLessThanOrEqual(12_000)
    expect(page).toBeGreaterThan(60_000)
    expect(page).toBeLessThanOrEqual(150_000)
  })

  test('each page needs at most 80 kB of JavaScript more, with brotli', () => {
    const first = getFirst()
    const lazy = readdirSync(join(folder, 'assets'))
      .filter((name) => name.endsWith('.js'))
      .map((name) => `assets/${name}`)
      .filter((file) => !first.has(file))
    expect(lazy.length).toBeGreaterThan(20)
    const bytes = lazy.map((file) => {
      const more = [...withImports(file)].filter((name) => !first.has(name))
      return [file, getSize(more)] as const
    })
    const [heaviest, most] = bytes.reduce((one, other) => (other[1] > one[1] ? other : one))
    console.log(`dashboard: the heaviest page is ${heaviest}, ${most} bytes`)
    expect(bytes.filter(([, size]) => size > 80_000)).toEqual([])
  })

  test('it contains no key and no path of this machine', () => {
    expect(html).not.toContain(import.meta.dirname)
    for (const file of withImports(/src="\/(assets\/[^"]+)"/.exec(html)?.[1] ?? '')) {
      expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(/kr_[atm][0-9A-Za-z]{39}|\/packages\/dashboard\//)
    }
  })
})

test('the first page needs few requests before it can be used, and sends none twice', needs('chromium'), async () => {
  const [pages, browser] = await Promise.all([startPages(), openBrowser()])
  try {
    const ada = await openUser(browser, pages.url)
    await signUpByApi(ada, pages.url)
    // A new context has the session, and an empty cache.
    const context = await browser.newContext({ storageState: await ada.context.storageState() })
    const page = await context.newPage()
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await page.goto(`${pages.url}/apps`, { waitUntil: 'commit' })
    await page.getByRole('link', { name: 'Create app' }).first().waitFor({ timeout: 60_000 })
    await context.close()
    console.log(`dashboard: the first page needs ${requests.length} requests: ${requests.join(' ')}`)
    expect(requests.filter((path, at) => requests.indexOf(path) !== at)).toEqual([])
    expect(requests.length).toBeLessThanOrEqual(20)
  } finally {
    await browser.close()
    await pages.stop()
  }
})

test(
  'a heading is painted before any script of the pages has loaded, and gone with the first page',
  { ...needs('chromium'), timeout: 180_000 },
  async () => {
    const [pages, browser] = await Promise.all([startPages(), openBrowser()])
    try {
      const context = await browser.newContext()
      const page = await context.newPage()
      const shell = page.locator('#shell h1')
      let release = (): void => undefined
      const isReleased = new Promise<void>((resolve) => (release = resolve))
      await page.route(/\/assets\/.*\.js$/, async (route) => {
        await isReleased
        await route.continue()
      })
      await page.goto(`${pages.url}/log-in`, { waitUntil: 'commit' })
      await shell.waitFor()
      release()
      await page.getByRole('heading', { name: 'Log in' }).waitFor({ timeout: 60_000 })
      expect(await shell.count()).toBe(0)
      await page.unroute(/\/assets\/.*\.js$/)

      // Slow 3G. How long it takes depends on the machine, so it is only printed.
      const slow = await (await browser.newContext()).newPage()
      const session = await slow.context().newCDPSession(slow)
      await session.send('Network.enable')
      const bytesPerSecond = 400_000 / 8
      await session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 400,
        downloadThroughput: bytesPerSecond,
        uploadThroughput: bytesPerSecond,
      })
      const startedAt = performance.now()
      await slow.goto(`${pages.url}/log-in`, { waitUntil: 'commit' })
      await slow.locator('#shell h1').waitFor({ timeout: 60_000 })
      const paint =
        'performance.getEntriesByType("paint").find(({ name }) => name === "first-contentful-paint")?.startTime'
      await slow.getByRole('heading', { name: 'Log in' }).waitFor({ timeout: 60_000 })
      const [painted, complete] = [Number(await slow.evaluate(paint)), performance.now() - startedAt]
      console.log(
        `dashboard: on slow 3G, a heading after ${painted.toFixed()} ms, the page after ${complete.toFixed()} ms`,
      )
      expect(painted).toBeGreaterThan(0)
    } finally {
      await browser.close()
      await pages.stop()
    }
  },
)
