import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { toSearchedTexts } from '../docs/.vitepress/agentPages.ts'
import { readPages } from '../docs/.vitepress/readPages.ts'
import searchSettings from '../docs/.vitepress/search.json' with { type: 'json' }
import { createDocsIndex } from '../packages/cli/src/mcp/docsIndex.ts'
import { toSearchOptions } from '../packages/cli/src/mcp/toSearchOptions.ts'
import { withoutCode } from './findFences.ts'
import { getExportedNames } from './getExportedNames.ts'
import { run, top } from './run.ts'
import { searchQueries } from './searchQueries.ts'
import type { Ran } from './run.ts'
import { findSiteProblems } from './findSiteProblems.ts'
import { inspectPage, serveSite } from './inspectPages.ts'
import type { PageReport } from './inspectPages.ts'
import { needs } from '../scripts/externalPrograms.ts'

/** Hosts that the site's texts and links may name. Add a new one deliberately. */
const namedHosts = [
  // In the code of VitePress and its dependencies: namespaces, licenses, error messages, and a URL for icons that no page uses.
  'www.w3.org',
  'vuejs.org',
  'github.com',
  'docsearch.algolia.com',
  'api.iconify.design',
  'a.com',
  // In the text of pages.
  'mswjs.io',
  'login.microsoftonline.com',
  'viem.sh',
  'wagmi.sh',
  'docs.ethers.org',
  'docs.web3js.org',
  'web3py.readthedocs.io',
  'eips.ethereum.org',
  'ethereum.org',
  'nodejs.org',
  'opentelemetry.io',
  'eth-sepolia.g.alchemy.com',
  'osv.dev',
  'modelcontextprotocol.io',
  'docs.erpc.cloud',
  'docs.otterscan.io',
  'www.alchemy.com',
  'docs.metamask.io',
  'www.standardwebhooks.com',
  'lb.drpc.org',
  'rpc.ankr.com',
  'docs.tenderly.co',
]

const documented = ['core', 'fetch', 'viem', 'ethers', 'web3', 'msw']

let site = ''
let built: Ran

beforeAll(async () => {
  site = mkdtempSync(join(tmpdir(), 'keyrail-site-'))
  // As in the workflow that publishes the site.
  const env = {
    KEYRAIL_DOCS_URL: 'https://docs.example/',
    GITHUB_SERVER_URL: 'https://git.example',
    GITHUB_REPOSITORY: 'someone/keyrail',
  }
  built = await run('vitepress', ['build', 'docs', '--outDir', site], { timeoutMs: 290_000, env })
}, 300_000)

afterAll(() => rmSync(site, { recursive: true, force: true }))

const read = (path: string): string => readFileSync(join(site, path), 'utf8')

describe('the site', () => {
  test('builds without dead links', () => {
    expect(built.stdout + built.stderr).not.toMatch(/dead link|error|warn/i)
    expect(built.code).toBe(0)
    expect(globSync('**/*.html', { cwd: site }).length).toBeGreaterThan(60)
  })

  test('has no broken link, no page without a link to it, and no request to another host', () => {
    expect(findSiteProblems(site, namedHosts)).toEqual([])
  })

  test('contains every page of docs/, every example and every README of a package', () => {
    const pages = globSync(['docs/**/*.md', 'examples/*/README.md', 'packages/*/README.md'], {
      cwd: top,
      exclude: (name) => /node_modules|[.]venv/.test(name),
    }).map((file) =>
      file
        .replaceAll('\\', '/')
        .replace(/^docs[/]/, '')
        .replace('decisions/README.md', 'decisions/index.md')
        .replace('/README.md', '.md')
        .replace(/md$/, 'html'),
    )
    const there = new Set(globSync('**/*.html', { cwd: site }).map((file) => file.replaceAll('\\', '/')))
    expect(pages.filter((page) => !there.has(page))).toEqual([])
  })

  test.each(documented)('documents every export of %s', (folder) => {
    const { types, values } = getExportedNames(readFileSync(join(top, 'packages', folder, 'src/index.ts'), 'utf8'))
    const html = globSync([`api/${folder}.html`, `api/${folder}-*.html`], { cwd: site })
      .map(read)
      .join('\n')
    const isThere = (name: string): boolean => new RegExp(`(<h2 [^>]*>|<code>)${name}\\b`).test(html)
    expect([...types, ...values].filter((name) => !isThere(name))).toEqual([])
  })

  test('finds pages with the local search', async () => {
    const [file = ''] = globSync('assets/chunks/@localSearchIndexroot.*.js', { cwd: site })
    const { default: index } = (await import(pathToFileURL(join(site, file)).href)) as { default: string }
    // The search library of the site.
    const vitepress = createRequire(createRequire(join(top, 'package.json')).resolve('vitepress/package.json'))
    const { default: MiniSearch } = (await import(pathToFileURL(vitepress.resolve('minisearch')).href)) as {
      default: { loadJSON(json: string, options: object): { search(words: string, how: object): { id: string }[] } }
    }
    const options = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] }
    const search = MiniSearch.loadJSON(index, options)
    // As the theme does in the browser.
    const how = toSearchOptions(searchSettings.options)
    const find = (words: string): string[] => search.search(words, how).map(({ id }) => id)
    expect(find('unconfirmed')).toContain('/failures.html#unconfirmed')
    expect(find('origin_not_allowed')).toContain('/failures.html#origin_not_allowed')
    expect(find('sizing')).toContain('/service/sizing.html#sizing')
    expect(find('createTransport').join(' ')).toContain('/api/core.html#createtransport')
    // As `keyrail mcp` does, whose results searchQueries.test.ts checks.
    const docs = createDocsIndex({ pages: toSearchedTexts(readPages(top)), settings: searchSettings })
    const toFile = (id: string): string =>
      id
        .slice(1)
        .replace(/#.*/, '')
        .replace(/(^|[/])$/, '$1index.html')
    for (const [query] of searchQueries) {
      const files = docs.search(query, 10).map(({ page }) => page.replace(/md$/, 'html'))
      expect(find(query).slice(0, 10).map(toFile), query).toEqual(files)
    }
    // Every result leads to its heading.
    const ids = find('key keyrail node call service')
    expect(ids.length).toBeGreaterThan(500)
    const html = new Map([...new Set(ids.map(toFile))].map((file) => [file, read(file)]))
    const isThere = (id: string): boolean => html.get(toFile(id))?.includes(` id="${id.split('#')[1]}"`) === true
    expect(ids.filter((id) => !isThere(id))).toEqual([])
    // Pages for contributors are not in the index.
    expect(
      find('decision architecture changeset').filter((id) => /^[/](decisions|bench|architecture)/.test(id)),
    ).toEqual([])
  })

  test('has each page as Markdown, with links that lead somewhere', () => {
    const pages = globSync('**/*.html', { cwd: site }).filter((file) => file !== '404.html')
    const broken = pages.flatMap((page) => {
      const file = page.replace(/html$/, 'md')
      const links = [...withoutCode(read(file)).matchAll(/\]\(https:[/][/]docs[.]example[/]([^)#\s]*)/g)]
      return links
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(join(site, path)))
        .map((path) => `${file}: ${path}`)
    })
    expect(broken).toEqual([])
    expect(read('start.md')).toMatch(/^# Get started with TypeScript/)
    expect(read('index.md')).toContain('```ts viem')
  })

  test('lists the guides and references for agents, without pages for contributors', () => {
    const list = read('llms.txt')
    expect(list).toMatch(
      /^# Keyrail\n\n> .+\n\n## Get started\n\n- \[Your first call\]\(https:[/][/]docs[.]example[/]start[/]first-call[.]md\): /,
    )
    const paths = [...list.matchAll(/\(https:[/][/]docs[.]example[/]([^)]+)\)/g)].map(([, path = '']) => path)
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths.filter((path) => !existsSync(join(site, path)))).toEqual([])
    expect(paths).toContain('service/limits.md')
    expect(paths).toContain('api/core.md')
    expect(paths.filter((path) => /decisions|bench|architecture/.test(path))).toEqual([])
    const full = read('llms-full.txt')
    for (const title of ['# Failures', '# Limits and metering', '# Hardhat and Foundry'])
      expect(full).toContain(`\n${title}\n`)
    expect(full.length).toBeLessThan(1_500_000)
  })

  test('has a version, a sitemap, and links to edit the pages that are written by hand', () => {
    expect(read('sitemap.xml')).toContain('<loc>https://docs.example/service/limits.html</loc>')
    expect(read('start.html')).toMatch(/>(Unreleased|v\d+[.]\d+[.]\d+)</)
    expect(read('start.html')).toContain('href="https://git.example/someone/keyrail/edit/main/docs/start.md"')
    expect(read('packages/msw.html')).toContain('/edit/main/packages/msw/README.md"')
    expect(read('start.html')).toContain('edit-link-button')
    expect(read('api/core.html')).not.toContain('edit-link-button')
  })
})

describe('in Chromium', { ...needs('chromium'), timeout: 1_800_000 }, () => {
  let served: Awaited<ReturnType<typeof serveSite>>
  let browser: Awaited<ReturnType<typeof openBrowser>>
  const reports: PageReport[] = []

  beforeAll(async () => {
    served = await serveSite(site)
    browser = await openBrowser()
    const paths = globSync('**/*.html', { cwd: site }).filter((file) => !['404.html', 'start.html'].includes(file))
    const next = paths.values()
    // Axe needs most of the time, and most of that for the sidebar and for long pages that are generated from one template.
    const onEveryPage = ['.VPNav', '.VPSidebar']
    const afterStart = ['.vp-doc > div > :nth-child(n + 100)']
    reports.push(await inspectPage(browser, served.url, '/start.html'))
    const inspectAll = async (): Promise<void> => {
      for (const file of next) {
        const path = `/${file.replaceAll('\\', '/')}`
        const isGenerated = path.startsWith('/api/')
        reports.push(
          await inspectPage(browser, served.url, path, isGenerated ? [...onEveryPage, ...afterStart] : onEveryPage),
        )
      }
    }
    await Promise.all([inspectAll(), inspectAll(), inspectAll()])
  }, 1_800_000)

  afterAll(async () => {
    await browser.close()
    served.server.close()
  })

  /** Returns what is wrong, by page. */
  const getProblems = (find: (report: PageReport) => readonly string[]): Record<string, readonly string[]> =>
    Object.fromEntries(
      reports.map((report) => [report.path, find(report)] as const).filter(([, problems]) => problems.length > 0),
    )

  test('pages follow the rules of axe, light and dark', () => {
    expect(reports.length).toBeGreaterThan(60)
    expect(getProblems(({ violations }) => violations)).toEqual({})
  })

  test('a first visit transfers at most 300 kB', () => {
    expect(getProblems(({ bytes }) => (bytes > 300_000 ? [`${bytes} bytes`] : []))).toEqual({})
    // Less than that would mean that nothing was counted.
    expect(Math.min(...reports.map(({ bytes }) => bytes))).toBeGreaterThan(50_000)
  })

  test('the layout does not shift while a page loads', () => {
    expect(getProblems(({ layoutShift, moved }) => (layoutShift > 0.1 ? moved : []))).toEqual({})
  })

  test('no table and no program is clipped on a phone', () => {
    expect(getProblems(({ clipped }) => clipped)).toEqual({})
  })

  test('the sidebar and the navigation fit into every window', async () => {
    const page = await browser.newPage()
    await page.goto(`${served.url}/start.html`)
    const clipped: string[] = []
    for (const width of [768, 960, 1280, 1440, 1600, 1680, 1920]) {
      await page.setViewportSize({ width, height: 900 })
      const sidebar = await page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.VPSidebar'))",
      )
      if (sidebar !== 0) clipped.push(`the sidebar at ${width}`)
      const link = await page.locator('.VPNavBarMenuLink').last().boundingBox()
      if (!link || link.x + link.width > width) clipped.push(`the navigation at ${width}`)
      if ((await page.evaluate('document.documentElement.scrollWidth')) !== width) clipped.push(`the page at ${width}`)
    }
    await page.close()
    expect(clipped).toEqual([])
  })

  test('pages log no errors', () => {
    expect(getProblems(({ errors }) => errors)).toEqual({})
  })

  test('the search leads to a page, and to a guide before a reference', async () => {
    const page = await browser.newPage()
    await page.goto(`${served.url}/index.html`)
    await page.getByRole('button', { name: 'Search' }).click()
    // Without weights, the reference of the control API is first.
    await page.locator('#localsearch-input').fill('webhook')
    await page.locator('.VPLocalSearchBox .result[href*="/reference/"]').first().waitFor()
    await page.locator('.VPLocalSearchBox .result').first().click()
    await page.waitForURL(/\/service\/alerts[.]html#/)
    expect(await page.locator('h1').count()).toBe(1)
    await page.close()
  })

  test('tabs switch between programs', async () => {
    const page = await browser.newPage()
    await page.goto(`${served.url}/index.html`)
    const program = page.getByText("from '@keyrail/ethers'")
    expect(await program.isVisible()).toBe(false)
    await page.locator('.vp-code-group label', { hasText: /^ethers$/ }).click()
    await program.waitFor()
    await page.close()
  })

  test('a reader chooses the library and the URL once, for all samples', async () => {
    const page = await browser.newPage()
    await page.goto(`${served.url}/start/first-call.html`)
    await page.getByLabel('Samples for').selectOption('ethers')
    await page.getByText("from '@keyrail/ethers'").waitFor()
    await page.getByLabel('with your URL').fill('https://rpc.example/base-mainnet/v2/kr_a1')
    await page.getByLabel('with your URL').press('Tab')
    await page.getByText('Enter the URL without the key').waitFor()
    await page.getByLabel('with your URL').fill('https://rpc.example/base-mainnet')
    await page.getByLabel('with your URL').press('Tab')
    // Also on other pages, after a reload, and in the tabs for other samples.
    await page.goto(`${served.url}/index.html`)
    await page.getByText("from '@keyrail/ethers'").waitFor()
    expect(await page.getByText("from '@keyrail/viem'").isVisible()).toBe(false)
    const code = await page.locator('.vp-doc').innerText()
    expect(code).toContain("baseUrl: 'https://rpc.example/base-mainnet'")
    expect(code).not.toContain('node.example')
    await page.locator('.vp-code-group label', { hasText: /^web3[.]py$/ }).click()
    await page.getByText('pip install keyrail').waitFor()
    await page.goto(`${served.url}/viem.html`)
    await page.getByText('https://rpc.example/{network}').first().waitFor()
    expect(await page.getByLabel('Samples for').inputValue()).toBe('web3.py')
    await page.close()
  })

  test('a page can be copied as Markdown', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(`${served.url}/service/limits.html`)
    await page.getByRole('button', { name: 'Copy page' }).click()
    await page.getByText('Copied', { exact: true }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(read('service/limits.md'))
    await context.close()
  })

  test('the search shows excerpts', async () => {
    const page = await browser.newPage()
    await page.goto(`${served.url}/index.html`)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.locator('#localsearch-input').fill('CORS')
    const excerpt = page.locator('.VPLocalSearchBox .result .excerpt').first()
    await excerpt.getByText('the cause can also be').waitFor()
    expect(await excerpt.locator('mark').count()).toBeGreaterThan(0)
    await page.close()
  })

  test('the inspection reports a page with problems', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-page-problems-'))
    writeFileSync(
      join(folder, 'index.html'),
      `<html class="dark"><body><main><img src="/gone.png"><table style="width: 900px"><tr><td>${'wide '.repeat(40)}</td></tr></table></main></body></html>`,
    )
    const own = await serveSite(folder)
    const { violations, clipped, errors } = await inspectPage(browser, own.url, '/index.html')
    own.server.close()
    rmSync(folder, { recursive: true })
    expect(violations.join()).toMatch(/image-alt/)
    expect(clipped).toEqual([expect.stringMatching(/^the page is \d+ pixels wide/), expect.stringMatching(/^wide/)])
    // Also for the icon.
    expect(errors.join()).toMatch(/404/)
  })
})

describe('the checker', () => {
  test('reports broken links, pages without a link to them, and other hosts', () => {
    const directory = mkdtempSync(join(tmpdir(), 'keyrail-site-problems-'))
    const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'self';">`
    const pages = {
      'index.html': `${policy}<h1 id="top">A</h1><a class="b" href="/in/b.html#far">b</a><a href="#nowhere">x</a><a href="gone.html">y</a>`,
      'in/b.html': `${policy}<h2 id="far">B</h2><a href="../index.html#top">a</a><a href="./">c</a><img alt="" src="https://node.example/pixel.png">`,
      'in/index.html': '<a href="https://elsewhere.com/">out</a>',
      'in/alone.html': policy,
      'a.js': 'fetch("https://tracker.dev/x"), "http://127.0.0.1:8545", "https://mswjs.io"',
    }
    for (const [path, text] of Object.entries(pages)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    expect(findSiteProblems(directory, ['mswjs.io'])).toEqual([
      '/index.html: the link #nowhere names no heading',
      '/index.html: the link gone.html leads nowhere',
      '/in/alone.html: no link leads here',
      '/in/b.html: loads https://node.example/pixel.png',
      '/in/index.html: has no policy against other hosts',
      'a.js: names the host tracker.dev',
      'in/index.html: names the host elsewhere.com',
    ])
    rmSync(directory, { recursive: true })
  })
})
