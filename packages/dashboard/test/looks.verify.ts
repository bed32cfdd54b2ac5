import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describePages } from './describePages.ts'
import { everyPage, showEverything } from './everyPage.ts'
import { addApp, callApi } from './testUser.ts'

/** Runs in the page: pairs of controls that overlap, as texts. */
const findOverlaps = (root: string): string => `(() => {
  const isShown = (element) => {
    const { width, height } = element.getBoundingClientRect()
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true })
  }
  const controls = [...document.querySelectorAll('${root} :is(a[href], button, input, select, textarea)')].filter(isShown)
  const toName = (element) => (element.textContent || element.name || element.className).trim().slice(0, 40)
  return controls.flatMap((one, at) => {
    const a = one.getBoundingClientRect()
    return controls.slice(at + 1).flatMap((other) => {
      const b = other.getBoundingClientRect()
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left)
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
      return across > 1 && down > 1 && !one.contains(other) && !other.contains(one)
        ? [toName(one) + ' / ' + toName(other)]
        : []
    })
  })
})()`

/** Runs in the page: the controls that the message covers, as texts. */
const findCovered = `(() => {
  const toast = document.querySelector('.toast')
  const a = toast.getBoundingClientRect()
  return [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter((control) => !toast.contains(control))
    .filter((control) => {
      const b = control.getBoundingClientRect()
      return b.width > 0 && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
    })
    .map((control) => control.textContent || control.name)
})()`

const isInWindow = `(() => {
  const { left, right, top, bottom } = document.querySelector('.toast').getBoundingClientRect()
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
})()`

describePages('the looks', {}, (getFixtures) => {
  test.each([390, 1440])(
    'a message covers no control, also after the page scrolls, in a window of %i px',
    async (width) => {
      const { pages, ada } = getFixtures()
      const { page } = ada
      const id = await addApp(ada, pages.url, 'Portfolio')
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${pages.url}/apps/${id}/settings/advanced`)
      const name = page.getByLabel('Name')
      await name.fill('Shop')
      // Save is where a message would be: at the lower end of the window.
      const save = page.getByRole('button', { name: 'Save' }).first()
      await save.evaluate((button) =>
        (button as unknown as { scrollIntoView: (to: object) => void }).scrollIntoView({ block: 'end' }),
      )
      await page.mouse.wheel(0, 8)
      await name.press('Enter')
      await page.getByText('Saved', { exact: true }).waitFor()
      expect(await page.evaluate(isInWindow)).toBe(true)
      await expect.poll(() => page.evaluate(findCovered)).toEqual([])

      // A message that can be undone stays for longer.
      await callApi(ada, pages.url, ['POST', `/api/apps/${id}/allow-list`], {
        type: 'origin',
        value: 'https://a.example',
      })
      await page.goto(`${pages.url}/apps/${id}/settings/allow-list`)
      await page.getByRole('button', { name: 'Remove https://a.example' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('button', { name: 'Undo' }).waitFor()
      for (const top of [0, 60, 120, 400, 10_000]) {
        await page.evaluate(`scrollTo(0, ${top})`)
        await expect.poll(() => page.evaluate(findCovered), { interval: 20 }).toEqual([])
        expect(await page.evaluate(isInWindow)).toBe(true)
      }
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Undone').waitFor()
      expect(ada.problems).toEqual([])
    },
  )

  test('a table and tabs that are too wide scroll by keyboard, and a shadow shows where there is more', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'A name that is much wider than the screen of a phone is')
    const item = { id, kind: 'app', name: 'A name that is much wider than the screen of a phone is' }
    const activity = {
      items: [{ ...item, total: 10, failed: 1, totals: [], failures: [], lastUsedAt: null }],
      total: 10,
    }
    await page.route(/\/api\/activity/, (route) => route.fulfill({ json: activity }))
    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(`${pages.url}/account`)
    const table = page.getByRole('region', { name: 'Table by app and API key' })
    await table.waitFor()
    const getEdges = (of: string): Promise<string> =>
      page.evaluate(`document.querySelector('${of}').closest('.scroll-edges').className`)
    await expect.poll(() => getEdges('.table-box')).toBe('scroll-edges more-after')
    expect(
      await page.evaluate(`getComputedStyle(document.querySelector('.table-box').parentNode, '::after').opacity`),
    ).toBe('1')
    await table.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => getEdges('.table-box')).toMatch(/more-before/)

    await page.goto(`${pages.url}/account/security`)
    await page.getByRole('heading', { name: 'Security' }).first().waitFor()
    await expect.poll(() => getEdges('.tabs')).toMatch(/^scroll-edges more-before/)
    const tab = page.getByRole('link', { name: 'Security' })
    const box = await tab.boundingBox()
    expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= 390).toBe(true)

    // A table that fits is no stop on the way through the page.
    const short = { ...activity, items: activity.items.map((one) => ({ ...one, name: 'Portfolio' })) }
    await page.route(/\/api\/activity/, (route) => route.fulfill({ json: short }))
    await page.setViewportSize({ width: 1440, height: 800 })
    await page.goto(`${pages.url}/account`)
    await table.waitFor()
    await expect.poll(() => getEdges('.table-box')).toBe('scroll-edges')
    expect(await table.getAttribute('tabindex')).toBe(null)
  })

  test('a placeholder takes its place at once, and is visible after 150 ms', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.route(/\/api\/apps\?/, () => undefined)
    await page.goto(`${pages.url}/apps`)
    const placeholder = page.locator('#root .loading')
    await placeholder.waitFor()
    expect(await placeholder.getAttribute('aria-busy')).toBe('true')
    expect(await placeholder.textContent()).toBe('Loading')
    const at = (ms: number): Promise<unknown> =>
      page.evaluate(`(() => {
        const shape = document.querySelector('#root .loading > .grid')
        const [animation] = shape.getAnimations()
        if (animation) { animation.pause(); animation.currentTime = ${ms} }
        return { visibility: getComputedStyle(shape).visibility, isHigh: shape.offsetHeight > 100 }
      })()`)
    // Kept from ending: the animation of a page that took its time is over.
    await page.evaluate(
      `(() => { const shape = document.querySelector('#root .loading > .grid'); shape.style.animation = 'none'; shape.offsetHeight; shape.style.animation = '' })()`,
    )
    expect(await at(149)).toEqual({ visibility: 'hidden', isHigh: true })
    expect(await at(150)).toEqual({ visibility: 'visible', isHigh: true })
  })

  test('the font comes from the service, once, before the page needs it, and nothing moves when it has loaded', async () => {
    const { pages, ada } = getFixtures()
    const page = await ada.context.newPage()
    const fonts: string[] = []
    page.on('response', (response) => {
      if (response.request().resourceType() === 'font')
        fonts.push(`${response.headers()['content-type']} ${response.headers()['cache-control']}`)
    })
    const response = await page.goto(`${pages.url}/apps`)
    await page.getByRole('heading', { name: 'Apps', exact: true }).waitFor()
    expect(await response?.text()).toMatch(
      /<link rel="preload" as="font" type="font\/woff2" crossorigin href="\/assets\/inter-latin/,
    )
    await page.evaluate('document.fonts.ready.then(() => undefined)')
    expect(fonts).toEqual(['font/woff2 public, max-age=31536000, immutable'])
    expect(await page.evaluate('document.fonts.check("550 15px Inter")')).toBe(true)
    const license = await page.context().request.get(`${pages.url}/inter-license.txt`)
    expect(await license.text()).toContain('SIL OPEN FONT LICENSE')
    const sizes = (await page.evaluate(`(async () => {
      const fallback = [...document.fonts].find(({ family }) => /Inter fallback/.test(family))
      await fallback.load().catch(() => undefined)
      if (fallback.status !== 'loaded') return []
      return ['Inter', 'Inter fallback'].map((family) => {
        const text = document.createElement('span')
        text.textContent = 'An app has one key, and a URL on each network. It has its own limits, allow list and tokens.'
        text.style.cssText = 'position: absolute; white-space: nowrap; font: 15px ' + JSON.stringify(family)
        document.body.append(text)
        const { width, height } = text.getBoundingClientRect()
        text.remove()
        return { width, height }
      })
    })()`)) as readonly { readonly width: number; readonly height: number }[]
    // None if this machine has no such font.
    for (const { width, height } of sizes) {
      expect(Math.abs(width / (sizes[0]?.width ?? 0) - 1)).toBeLessThan(0.04)
      expect(Math.abs(height - (sizes[0]?.height ?? 0))).toBeLessThanOrEqual(1)
    }
    await page.close()
  })

  test('from right to left, no page is too wide for a phone, and no control overlaps another', async () => {
    const { pages, ada } = getFixtures()
    const shown = await showEverything(ada, pages, await addApp(ada, pages.url, 'Portfolio'))
    const page = await ada.context.newPage()
    await page.addInitScript(() => {
      const { document } = globalThis as unknown as { document: { documentElement: { dir: string } } & EventTarget }
      document.addEventListener('DOMContentLoaded', () => (document.documentElement.dir = 'rtl'))
    })
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      for (const { name, path } of everyPage) {
        await page.goto(pages.url + path(shown))
        await page.locator('#root h1').waitFor()
        await page.locator('#root .loading').first().waitFor({ state: 'detached' })
        const found = {
          name,
          width: await page.evaluate('document.documentElement.scrollWidth'),
          overlaps: await page.evaluate(findOverlaps('#root')),
        }
        expect(found).toEqual({ name, width, overlaps: [] })
      }
    }
    const nav = await page.getByRole('navigation', { name: 'Main' }).boundingBox()
    expect(nav?.x).toBeGreaterThan(1440 / 2)
    // The arrow of a select is at its end, from the left.
    const arrow = `getComputedStyle(document.querySelector('select.input')).backgroundPositionX`
    expect(await page.evaluate(arrow)).toBe('12px, 17px')
    await page.close()
  })

  test.each([
    ['de-DE', '1.234.567'],
    ['en-IN', '12,34,567'],
    ['ar-EG', '١٬٢٣٤٬٥٦٧'],
  ])('numbers are written as in %s', async (locale, text) => {
    const { pages, ada } = getFixtures()
    const id = await addApp(ada, pages.url, 'Portfolio')
    const context = await openAs(ada.page, { locale, storageState: await ada.context.storageState() })
    const page = await context.newPage()
    const item = { id, kind: 'app', name: 'Portfolio', total: 1_234_567, failed: 12, lastUsedAt: null }
    const activity = { items: [{ ...item, totals: [1, 2], failures: [0, 1] }], total: 1_234_567 }
    await page.route(/\/api\/activity/, (route) => route.fulfill({ json: activity }))
    await page.goto(`${pages.url}/apps`)
    await page.getByText(text).first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.goto(`${pages.url}/account`)
    await page
      .getByRole('row', { name: /Portfolio/ })
      .first()
      .waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await context.close()
  })
})

/** Opens another context in the same browser, as wide as a phone. */
async function openAs(page: Page, options: object) {
  const browser = page.context().browser()
  if (browser === null) throw new Error('The context has no browser')
  const context = await browser.newContext({ viewport: { width: 390, height: 800 }, ...options })
  context.setDefaultTimeout(60_000)
  return context
}
