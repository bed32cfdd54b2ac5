import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'

const getFocus = 'document.activeElement.textContent'

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
    await expect.poll(() => page.evaluate(getFocus)).toBe('Origins')
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
})
