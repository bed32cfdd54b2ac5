import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { top } from './run.ts'

/** What a browser finds out about a page of a built site. */
export interface PageReport {
  readonly path: string
  /** Violations of the rules of axe, light and dark. */
  readonly violations: readonly string[]
  /** What is wider than a phone and cannot be scrolled. */
  readonly clipped: readonly string[]
  /** What the page transfers on the first visit, in bytes, compressed. */
  readonly bytes: number
  /** The sum of the layout shifts. 0.1 and less counts as good. */
  readonly layoutShift: number
  /** What has moved, from where to where, with the share of each movement. */
  readonly moved: readonly string[]
  /** Messages of the console, and exceptions. */
  readonly errors: readonly string[]
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

// The dashboard has it as a dependency.
const axe = readFileSync(
  createRequire(join(top, 'packages/dashboard/package.json')).resolve('axe-core/axe.min.js'),
  'utf8',
)

/** Serves a built site, with texts compressed. */
export async function serveSite(folder: string): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname
    const file = decodeURI(path.endsWith('/') ? `${path}index.html` : path)
    try {
      const body = readFileSync(join(folder, file))
      const isText = extname(file) !== '.png'
      response.writeHead(200, {
        'content-type': types[extname(file)] ?? 'application/octet-stream',
        ...(isText && { 'content-encoding': 'gzip' }),
      })
      response.end(isText ? gzipSync(body) : body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/**
 * Opens a page of a site as a first visitor, on a desktop and on a phone.
 * @param browser - Chromium.
 * @param url - The URL of the site.
 * @param path - The path of the page.
 * @param exclude - Selectors of what axe does not look at, such as a sidebar that is the same on every page.
 */
export async function inspectPage(
  browser: Browser,
  url: string,
  path: string,
  exclude: readonly string[] = [],
): Promise<PageReport> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' })
  try {
    const page = await context.newPage()
    const errors: string[] = []
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    page.on('pageerror', (error) => errors.push(error.message))
    const sizes: Promise<number>[] = []
    page.on('requestfinished', (request) => {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
    })
    await page.addInitScript(recordShifts)
    await page.goto(url + path, { waitUntil: 'networkidle' })
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    const shifts = (await page.evaluate('window.layoutShifts')) as readonly Shift[]
    const layoutShift = shifts.reduce((sum, { value }) => sum + value, 0)
    const moved = shifts.map(({ value, sources }) => `${value.toFixed(4)}: ${sources.join(', ')}`)
    await page.evaluate(axe)
    const light = await findViolations(page, exclude, {})
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    await page.locator('html.dark').waitFor({ state: 'attached' })
    const dark = await findViolations(page, exclude, {
      runOnly: ['color-contrast', 'link-in-text-block'],
      preload: false,
    })
    await page.setViewportSize({ width: 390, height: 844 })
    const clipped = (await page.evaluate(findClipped)) as string[]
    return { path, violations: [...new Set([...light, ...dark])], clipped, bytes, layoutShift, moved, errors }
  } finally {
    await context.close()
  }
}

interface Shift {
  readonly value: number
  readonly sources: readonly string[]
}

/** Runs in the page before its scripts. */
const recordShifts = `window.layoutShifts = []
const print = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ')
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries())
    window.layoutShifts.push({
      value,
      sources: sources.map(({ node, previousRect, currentRect }) =>
        (node?.className || node?.nodeName) + ' from ' + print(previousRect) + ' to ' + print(currentRect)),
    })
}).observe({ type: 'layout-shift', buffered: true })`

async function findViolations(page: Page, exclude: readonly string[], options: object): Promise<string[]> {
  const found = (await page.evaluate(
    `axe.run(${JSON.stringify({ exclude })}, ${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) => violations)`,
  )) as readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

/** Runs in the page. A table or a program may be wider than the page if it can be scrolled. */
const findClipped = `(() => {
  const found = document.documentElement.scrollWidth > 390 ? ['the page is ' + document.documentElement.scrollWidth + ' pixels wide'] : []
  for (const element of document.querySelectorAll('main table, main pre')) {
    const box = element.getBoundingClientRect()
    const isScrolled = ['auto', 'scroll'].includes(getComputedStyle(element).overflowX)
    if (box.width === 0) continue
    if (box.right > 391 || (element.scrollWidth > element.clientWidth + 1 && !isScrolled)) found.push(element.textContent.trim().slice(0, 80))
  }
  return found
})()`
