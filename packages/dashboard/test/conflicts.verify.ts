import { expect, test } from 'vitest'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'

describePages('a record that is open in two tabs', {}, (getFixtures) => {
  test('a second tab does not revert the expiry of a key, and shows a conflict', async () => {
    const { pages, ada } = getFixtures()
    const { page, context } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    const getExpiry = async () =>
      (await callApi<{ key: { expiresAt: string | null } }>(ada, pages.url, ['GET', `/api/apps/${appId}`])).key
        .expiresAt
    const other = await context.newPage()
    const path = `${pages.url}/apps/${appId}/settings/advanced`
    await Promise.all([page.goto(path), other.goto(path)])
    const [mine, theirs] = [page, other].map((tab) => ({
      day: tab.getByLabel('Expires after'),
      save: tab.locator('form', { has: tab.getByLabel('Expires after') }).getByRole('button', { name: 'Save' }),
    }))
    if (mine === undefined || theirs === undefined) throw new Error('two tabs')
    await theirs.day.waitFor()
    const year = new Date().getFullYear() + 1
    await mine.day.fill(`${year}-06-15`)
    await mine.save.click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const saved = await getExpiry()
    expect(saved).toBe(new Date(`${year}-06-15T23:59:59`).toISOString())

    // The other tab has no changes to save.
    await theirs.save.click()
    await other.getByText('Saved', { exact: true }).waitFor()
    expect(await getExpiry()).toBe(saved)

    await theirs.day.fill(`${year}-07-20`)
    await theirs.save.click()
    await other.getByRole('alert').getByText('This was changed elsewhere. The latest version is shown now').waitFor()
    await other.getByText('This was changed elsewhere after you started to type.').waitFor()
    expect(await getExpiry()).toBe(saved)
    await other.getByRole('button', { name: 'Discard' }).click()
    expect(await theirs.day.inputValue()).toBe(`${year}-06-15`)
    await theirs.day.fill(`${year}-07-20`)
    await theirs.save.click()
    await expect.poll(getExpiry).toBe(new Date(`${year}-07-20T23:59:59`).toISOString())
    await other.close()
  })
})
