import { expect, test } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, clipboard, createApp } from './testUser.ts'

/** Copies the key from the dialog, which stays open until the copy is confirmed. */
async function copyNewKey(page: Page): Promise<Locator> {
  const dialog = page.getByRole('dialog', { name: 'Copy your new key now' })
  await dialog.waitFor()
  await dialog.getByText('cannot show it again').waitFor()
  // Chromium closes a dialog at the second Escape even if the page cancels it.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.getByText('Confirm that you saved the key.').waitFor()
  await dialog.getByRole('button', { name: 'Copy: the new key' }).click()
  await page.getByText('Copied: the new key').waitFor()
  return dialog
}

async function confirm(dialog: Locator): Promise<void> {
  await dialog.getByLabel('I saved the key').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
}

describePages('a service that never reveals keys', { reveal: 'never' }, (getFixtures) => {
  test('shows the key of a new app until its copy is confirmed', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.goto(`${pages.url}/apps/new`)
    const created = createApp(ada, 'Portfolio')
    const dialog = await copyNewKey(page)
    const key = await clipboard(ada)
    await confirm(dialog)
    await created
    expect(await callNode(`${pages.url}/testnet/v2/${key}`)).toMatchObject({ status: 200 })
    expect(ada.problems).toEqual([])
  })

  test('shows the new key of a rotation', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.goto(`${pages.url}/apps/${await addApp(ada, pages.url, 'Portfolio')}/settings/advanced`)
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    const dialog = await copyNewKey(page)
    expect(await callNode(`${pages.url}/testnet/v2/${await clipboard(ada)}`)).toMatchObject({ status: 200 })
    await confirm(dialog)
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Rotate key')
  })

  test('shows a new API key, and its rotation', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.goto(`${pages.url}/keys/new`)
    await page.getByLabel('Name').fill('Laptop')
    await page.getByLabel('Network').fill('sepolia')
    await page.getByLabel('Network').press('Enter')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const created = await copyNewKey(page)
    const first = await clipboard(ada)
    await confirm(created)
    expect(await callNode(`${pages.url}/testnet/${first}`)).toMatchObject({ status: 200 })
    await page.getByRole('heading', { name: 'Laptop' }).waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    const rotated = await copyNewKey(page)
    expect(await clipboard(ada)).not.toBe(first)
    await confirm(rotated)
  })
})
