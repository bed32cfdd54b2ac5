import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { borrowPages } from './lendPages.ts'
import { noBrowser, openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { enrol, openPerson } from './person.ts'
import { startPages } from './startPages.ts'

describe('what is built', () => {
  const own = mkdtempSync(join(tmpdir(), 'keyrail-weight-'))
  let folder = ''
  let html = ''

  beforeAll(async () => {
    folder = await borrowPages(own)
    html = readFileSync(join(folder, 'index.html'), 'utf8')
  }, 60_000)
  afterAll(() => rmSync(own, { recursive: true, force: true }))

  /** A script, and what it imports before it runs. */
  const withImports = (file: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(file)) return seen
    seen.add(file)
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+\.js)["']/g)) {
      withImports(`assets/${name}`, seen)
    }
    return seen
  }

  /** The scripts that are loaded before anything is seen. */
  const getFirst = (): Set<string> => {
    const scripts = [...html.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(([, file = '']) => file)
    return new Set(scripts.flatMap((file) => [...withImports(file)]))
  }

  test('the JavaScript before anything is seen is at most 150 kB, zipped', () => {
    const files = getFirst()
    expect(files.size).toBeGreaterThan(1)
    const bytes = [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0)
    expect(bytes).toBeGreaterThan(60_000)
    expect(bytes).toBeLessThanOrEqual(150_000)
  })

  test('each page needs at most 80 kB of JavaScript more, zipped', () => {
    const first = getFirst()
    const lazy = readdirSync(join(folder, 'assets'))
      .filter((name) => name.endsWith('.js'))
      .map((name) => `assets/${name}`)
      .filter((file) => !first.has(file))
    expect(lazy.length).toBeGreaterThan(20)
    const bytes = lazy.map((file) => {
      const more = [...withImports(file)].filter((name) => !first.has(name))
      return [file, more.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)] as const
    })
    const [heaviest, most] = bytes.reduce((one, other) => (other[1] > one[1] ? other : one))
    console.log(`dashboard: the heaviest page is ${heaviest}, ${most} bytes`)
    expect(bytes.filter(([, size]) => size > 80_000)).toEqual([])
  })

  test('no key, and no place of this machine, is in it', () => {
    expect(html).not.toContain(import.meta.dirname)
    for (const file of withImports(/src="\/(assets\/[^"]+)"/.exec(html)?.[1] ?? '')) {
      expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(/kr_[atm][0-9A-Za-z]{39}|\/packages\/dashboard\//)
    }
  })
})

test.skipIf(noBrowser)(
  'the first page needs few requests before it can be used, and sends none twice',
  async () => {
    const [pages, browser] = await Promise.all([startPages(), openBrowser()])
    try {
      const ada = await openPerson(browser, pages.url)
      await enrol(ada, pages.url)
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
  },
  90_000,
)
