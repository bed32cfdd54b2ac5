import { generateKeyPairSync } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { clipboard, openUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { runCopied } from './runCopied.ts'
import { signJwt } from './signJwt.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

/** The role or tag of the focused element, and its accessible name. */
interface Focused {
  readonly name: string
  readonly isSeen: boolean
}

const focused = (page: Page): Promise<Focused> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement
    const labels = 'labels' in element ? [...((element as HTMLInputElement).labels ?? [])] : []
    const name = element.getAttribute('aria-label') ?? labels[0]?.textContent ?? element.textContent ?? ''
    const box = (element.closest('label') ?? element).getBoundingClientRect()
    const style = getComputedStyle(element.closest('label') ?? element)
    const ring = [style, getComputedStyle(element)].some(
      ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && outlineWidth !== '0px',
    )
    // The browser draws the parts of a date field, and their focus.
    const isDay = element instanceof HTMLInputElement && element.type === 'date'
    return { name: name.trim(), isSeen: isDay || (box.width > 0 && box.height > 0 && ring) }
  })

describe('by keyboard only', { ...needs('chromium'), timeout: 120_000 }, () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
    ada = await openUser(browser, pages.url)
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  /** Presses Tab until the element with a name has the focus, and checks that the focus is always visible. */
  const tabTo = async (name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> => {
    const passed: string[] = []
    for (let presses = 0; presses < 60; presses += 1) {
      await ada.page.keyboard.press(key)
      const at = await focused(ada.page)
      passed.push(at.name)
      // The skip link slides in, and the frame of the page is outside of the viewport.
      if (at.name !== '' && !at.name.startsWith('Skip'))
        expect(at.isSeen, `the focus on ${at.name} is not seen`).toBe(true)
      if (typeof name === 'string' ? at.name === name : name.test(at.name)) return
    }
    throw new Error(`${String(name)} was not reached: ${passed.join(' | ')}`)
  }

  /** Pastes a text into the focused field. */
  const paste = (text: string): Promise<void> => ada.page.keyboard.insertText(text)

  /** Copies the URL of a network, from the page of networks. */
  const copyAddress = async (network: 'Ethereum Sepolia' | 'Ethereum Mainnet'): Promise<string> => {
    await tabTo(`Copy: URL on ${network}`)
    await ada.page.keyboard.press('Enter')
    await ada.page.getByText(`Copied: URL on ${network}`).waitFor()
    return clipboard(ada)
  }

  test('sign up, create an app, run its program, copy its URLs, allow an origin, require a token, rotate, and delete it', async () => {
    const { page, email, password, problems } = ada
    const { keyboard } = page
    await page.goto(`${pages.url}/sign-up`)
    await page.locator('#root h1').waitFor()
    await tabTo('Email address')
    await keyboard.type(email)
    await tabTo('Password')
    await keyboard.type(password)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()

    // The name has the focus. Everything else has a default, and comes in this order.
    await expect.poll(async () => (await focused(page)).name).toBe('Name')
    await keyboard.type('Portfolio')
    await keyboard.press('Tab')
    expect((await focused(page)).name).toBe('Chains and networks')
    await tabTo(/^Description, use case and services/)
    await keyboard.press('Enter')
    await tabTo(/^Description \(optional\)/)
    await keyboard.type('Balances')
    await tabTo('Use case')
    await keyboard.type('Wal')
    await tabTo(/^Node API/)
    await tabTo('Create app')
    await keyboard.press('Enter')
    await page.waitForURL(/\/setup/)

    // The first Tab reaches the link that skips the menu.
    await page.reload()
    await page.getByRole('region', { name: 'Program' }).waitFor()
    await page.evaluate('document.activeElement.blur()')
    await keyboard.press('Tab')
    expect((await focused(page)).name).toBe('Skip to the page')
    await keyboard.press('Enter')
    await page.getByText('Waiting for your first request…').waitFor()
    await tabTo('Copy: the .env file')
    await keyboard.press('Enter')
    await page.getByText('Copied: the .env file').waitFor()
    const dotEnv = await clipboard(ada)
    await tabTo('Copy: the program')
    await keyboard.press('Enter')
    await page.getByText('Copied: the program').waitFor()
    expect(await runCopied(await clipboard(ada), 'latest-block.mts', dotEnv)).toMatch(/^Block 0 is 0x[0-9a-f]{64}\n$/)
    await page.getByText('Your first request has arrived.').waitFor()
    await tabTo('See the metrics', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('row', { name: /eth_getBlockByNumber/ }).waitFor()

    await tabTo('Networks', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Ethereum Sepolia' }).waitFor()
    const address = await copyAddress('Ethereum Sepolia')
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 200, result: '0xaa36a7' })
    expect(await callNode(await copyAddress('Ethereum Mainnet'), 'eth_chainId')).toMatchObject({
      status: 200,
      result: '0x1',
    })

    await tabTo('Settings', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Details' }).waitFor()
    await tabTo('Allow list')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Allow list' }).waitFor()
    await tabTo('Origin')
    await keyboard.type('https://app.example.com')
    await keyboard.press('Enter')
    // The page's own calls have no such origin.
    await page.getByRole('dialog', { name: 'Allow only https://app.example.com?' }).waitFor()
    await tabTo('Add')
    await keyboard.press('Enter')
    await page.getByRole('row', { name: /https:\/\/app\.example\.com/ }).waitFor()
    expect(
      await callNode(address, 'eth_chainId', { headers: { origin: 'https://elsewhere.example.com' } }),
    ).toMatchObject({ status: 403, reason: 'origin_not_allowed' })
    await tabTo('Remove https://app.example.com')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo('Remove')
    await keyboard.press('Enter')
    await page.getByRole('row', { name: /https:\/\/app\.example\.com/ }).waitFor({ state: 'detached' })

    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await tabTo('JWT keys', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Import a key' }).waitFor()
    await tabTo('Public key (PEM)')
    await paste(pair.publicKey.export({ type: 'spki', format: 'pem' }).toString())
    await tabTo('Import')
    await keyboard.press('Enter')
    await page.getByText('Fingerprint (SHA-256)').waitFor()
    await tabTo('Copy: the key id', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByText('Copied: the key id').waitFor()
    const token = signJwt(pair.privateKey, await clipboard(ada))
    await tabTo('Token')
    await paste(token)
    await tabTo('Test')
    await keyboard.press('Enter')
    await page.getByText('The token is valid until').waitFor()

    await tabTo('Advanced configuration', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Details' }).waitFor()
    await tabTo('Require JWT')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo('Require JWT')
    await keyboard.press('Enter')
    await page.getByText('Every call needs a token now').waitFor()
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 401 })
    expect(await callNode(address, 'eth_chainId', { headers: { authorization: `Bearer ${token}` } })).toMatchObject({
      status: 200,
    })
    // The focus stays on the button.
    expect((await focused(page)).name).toBe('Stop requiring tokens')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo('Stop requiring tokens')
    await keyboard.press('Enter')
    await page.getByText('Calls no longer need a token').waitFor()
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 200 })

    await tabTo('Rotate key', 'Shift+Tab')
    await keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Rotate key' })
    await dialog.waitFor()
    // Tab stays in the dialog, and Escape returns the focus.
    for (let presses = 0; presses < 6; presses += 1) {
      await keyboard.press('Tab')
      expect(
        await page.evaluate(
          'document.activeElement === document.body || document.querySelector("dialog").contains(document.activeElement)',
        ),
      ).toBe(true)
    }
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect((await focused(page)).name).toBe('Rotate key')
    await keyboard.press('Enter')
    await dialog.waitFor()
    expect((await focused(page)).name).toBe('The old key works for')
    // Opens the list of options.
    await keyboard.press('Space')
    await keyboard.press('Home')
    await keyboard.press('Enter')
    await tabTo('Rotate key')
    await keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const newKey = page.getByRole('dialog', { name: 'Your new key' })
    await newKey.waitFor()
    await keyboard.press('Escape')
    await newKey.waitFor({ state: 'detached' })
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 401 })

    await tabTo('Networks', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Ethereum Sepolia' }).waitFor()
    const rotated = await copyAddress('Ethereum Sepolia')
    expect(await callNode(rotated, 'eth_chainId')).toMatchObject({ status: 200 })
    await tabTo('Settings', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Details' }).waitFor()
    await tabTo('Delete app')
    await keyboard.press('Enter')
    await page.getByLabel('App name').waitFor()
    await tabTo('App name')
    await keyboard.type('Portfolio')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No apps yet' }).waitFor()
    expect(await callNode(rotated, 'eth_chainId')).toMatchObject({ status: 401 })
    expect(problems).toEqual([])
  })
})
