import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { findViolations } from './findViolations.ts'
import { addApp, callApi, openUser, signUpByApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'

const getFocus = 'document.activeElement.textContent'

/** The subjects of confirmed reads. Each is created, on the test network. */
const confirmed = {
  app: async (user: TestUser, url: string) => {
    const id = await addApp(user, url, 'Portfolio')
    const { urls } = await callApi<{ urls: { testnet: string } }>(user, url, ['POST', `/api/apps/${id}/key/reveal`], {})
    return { path: `/api/apps/${id}`, settings: `${url}/apps/${id}/settings/advanced`, address: urls.testnet }
  },
  'API key': async (user: TestUser, url: string) => {
    const { key, url: address } = await callApi<{ key: { id: string }; url: string }>(
      user,
      url,
      ['POST', '/api/keys'],
      { name: 'Laptop', network: 'testnet' },
    )
    return { path: `/api/keys/${key.id}`, settings: `${url}/keys/${key.id}/settings`, address }
  },
}
const kinds = ['app', 'API key'] as const

describePages('changes with consequences', {}, (getFixtures) => {
  test('removing an allow list entry needs a confirmation, leaves the focus in its card, and can be undone', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const path = `/api/apps/${id}/allow-list`
    const getItems = async () => (await callApi<{ items: unknown[] }>(ada, pages.url, ['GET', path])).items
    for (const [value, label] of [
      ['https://a.example', 'The shop'],
      ['https://b.example', ''],
    ]) {
      await callApi(ada, pages.url, ['POST', path], { type: 'origin', value, label })
    }
    const remove = (value: string): Promise<void> => page.getByRole('button', { name: `Remove ${value}` }).click()
    const dialog = page.getByRole('dialog')
    await page.goto(`${pages.url}/apps/${id}/settings/allow-list`)
    await remove('https://b.example')
    await dialog.getByText('Calls that only this entry allows are rejected immediately.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await getItems()).toHaveLength(2)
    await remove('https://b.example')
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed https://b.example').waitFor()
    await expect.poll(() => page.evaluate(getFocus)).toBe('Allow list')
    // The last origin opens the app.
    await remove('https://a.example')
    await dialog
      .getByText('It is the last entry of this type. Without it, the app accepts calls from every website')
      .waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed https://a.example').waitFor()
    expect(await getItems()).toEqual([])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('row', { name: /https:\/\/a\.example The shop/ }).waitFor()
    expect(await getItems()).toMatchObject([{ value: 'https://a.example', label: 'The shop' }])
    expect(ada.problems).toEqual([])
  })

  test('requiring tokens needs a confirmation that names the consequence, and can be undone', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' })
    await callApi(ada, pages.url, ['POST', `/api/apps/${id}/jwt-keys`], { pem })
    const { urls } = await callApi<{ urls: { testnet: string } }>(
      ada,
      pages.url,
      ['POST', `/api/apps/${id}/key/reveal`],
      {},
    )
    const dialog = page.getByRole('dialog')
    await page.goto(`${pages.url}/apps/${id}/settings/advanced`)
    await page.getByRole('button', { name: 'Require JWT' }).click()
    await dialog.getByText('are rejected immediately. Programs that send none stop working.').waitFor()
    expect(await callNode(urls.testnet)).toMatchObject({ status: 200 })
    await dialog.getByRole('button', { name: 'Require JWT' }).click()
    await page.getByText('Every call needs a token now').waitFor()
    expect(await callNode(urls.testnet)).toMatchObject({ status: 401 })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone').waitFor()
    expect(await callNode(urls.testnet)).toMatchObject({ status: 200 })
    await page.getByRole('button', { name: 'Require JWT' }).waitFor()
  })

  test('Escape closes the menu on a phone, and the focus is on its button', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${pages.url}/keys`)
    const menu = page.getByRole('button', { name: 'Menu' })
    await menu.click()
    const link = page.getByRole('link', { name: 'Account' })
    await link.focus()
    await page.keyboard.press('Escape')
    await link.waitFor({ state: 'hidden' })
    expect(await page.evaluate(getFocus)).toBe('Menu')
    expect(await menu.getAttribute('aria-expanded')).toBe('false')
  })
  test.each(kinds)('the confirmed reads of an %s are set, stay, and hold for its calls', async (kind) => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const { path, settings, address } = await confirmed[kind](ada, pages.url)
    const testnet = { chainId: 11155111, upstreams: [{ url: pages.node }], confirmByCallers: true }
    await pages.reload({ networks: { testnet, mainnet: { chainId: 1, upstreams: [{ url: pages.mainnetNode }] } } })
    try {
      const getBalance = (headers = {}) =>
        callNode(address, 'eth_getBalance', { params: [`0x${'1'.repeat(40)}`, 'latest'], headers })
      const header = { 'x-keyrail-confirm': '2' }
      expect(await getBalance()).toMatchObject({ status: 200, result: '0x0' })
      expect((await getBalance(header)).message).toContain('X-Keyrail-Confirm is not enabled for this key')

      const card = page.getByRole('region', { name: 'Confirmed reads' })
      const nodes = card.getByLabel('Nodes that must agree on each read')
      const single = card.getByRole('checkbox', { name: 'May ask for more by the header X-Keyrail-Confirm' })
      const shown = async () => [await nodes.inputValue(), await single.isChecked()]
      const save = async (): Promise<void> => {
        await card.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Saved', { exact: true }).waitFor()
        await page.reload()
        await nodes.waitFor()
      }
      await page.goto(settings)
      await nodes.waitFor()
      expect(await shown()).toEqual(['0', false])
      await single.check()
      await save()
      expect(await shown()).toEqual(['0', true])
      expect(await getBalance()).toMatchObject({ status: 200, result: '0x0' })
      // The network has one node, so no second one can agree.
      const few = (await getBalance(header)).message
      expect(few).not.toContain('not enabled')
      expect(few).toMatch(/agree|confirm/)

      await nodes.selectOption('3')
      await single.uncheck()
      await save()
      expect(await shown()).toEqual(['3', false])
      expect(await callApi(ada, pages.url, ['GET', path])).toMatchObject({ confirmNodes: 3, confirmHeader: false })
      expect((await getBalance()).message).toMatch(/agree|confirm/)

      // The list has only valid numbers, so another one comes from elsewhere.
      await nodes.locator('option[value="4"]').evaluate((option) => ((option as HTMLOptionElement).value = '1'))
      await nodes.selectOption('1')
      await card.getByRole('button', { name: 'Save' }).click()
      await card.getByText('Must be 0, or a whole number from 2 to 10.').waitFor()
      expect(await page.evaluate('document.activeElement.name')).toBe('confirmNodes')
      expect(await findViolations(page)).toEqual([])
      await nodes.selectOption('As many as the network requires')
      await save()
      expect(await shown()).toEqual(['0', false])
      expect(await getBalance()).toMatchObject({ status: 200, result: '0x0' })
      expect(ada.problems).toEqual([])
    } finally {
      await pages.reload({})
    }
  })

  test.each(kinds)('a viewer sees the confirmed reads of an %s, and cannot change them', async (kind) => {
    const { pages, ada } = getFixtures()
    const { id: account } = await callApi<{ id: string }>(ada, pages.url, ['POST', '/api/accounts'], { name: 'Acme' })
    const owner = { ...ada, account }
    const { path, settings } = await confirmed[kind](owner, pages.url)
    const { version } = await callApi<{ version: number }>(owner, pages.url, ['GET', path])
    const change = { version, confirmNodes: 3, confirmHeader: true }
    await callApi(owner, pages.url, ['PATCH', path], change)
    const browser = ada.context.browser()
    if (browser === null) throw new Error('the context has no browser')
    const grace = await openUser(browser, pages.url)
    try {
      await signUpByApi(grace, pages.url)
      const invite = { email: grace.email, role: 'viewer' }
      const { url } = await callApi<{ url: string }>(owner, pages.url, ['POST', '/api/members/invites'], invite)
      await callApi(grace, pages.url, ['POST', '/api/accounts/join'], { invite: url.split('#')[1] })
      await grace.page.addInitScript((id) => localStorage.setItem('keyrail-account', id), account)
      await grace.page.goto(settings)
      const card = grace.page.getByRole('region', { name: 'Confirmed reads' })
      const nodes = card.getByLabel('Nodes that must agree on each read')
      const single = card.getByRole('checkbox')
      await nodes.waitFor()
      expect([await nodes.inputValue(), await single.isChecked()]).toEqual(['3', true])
      expect([await nodes.isDisabled(), await single.isDisabled()]).toEqual([true, true])
      expect(await card.getByRole('button').count()).toBe(0)
      expect(await findViolations(grace.page)).toEqual([])
      expect(grace.problems).toEqual([])
    } finally {
      await grace.close()
    }
  })
})
