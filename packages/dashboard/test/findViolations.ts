import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** The rules of axe about colors. Only these depend on the color scheme. */
export const colorRules = { runOnly: ['color-contrast', 'link-in-text-block'], preload: false }

/** Finds violations of the rules of axe on the current page. */
export async function findViolations(page: Page, options = {}): Promise<string[]> {
  await page.evaluate(axe)
  const found = (await page.evaluate(
    `axe.run(${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) => violations)`,
  )) as readonly Violation[]
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

/** Switches the color scheme. */
export async function setColorScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  // The colors are painted in the frame after the next.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
}
