import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

describePages('a rotation with a grace period', {}, (getFixtures) => {
  test('shows the traffic of both keys, and asks before it deactivates an old key in use', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const call = <T>(method: string, path: string, body?: unknown): Promise<T> =>
      callApi<T>(ada, pages.url, [method, path], body)
    type Urls = { readonly urls: { readonly testnet: string } }
    const old = await call<Urls>('POST', `/api/apps/${id}/key/reveal`, {})
    const rotated = await call<Urls>('POST', `/api/apps/${id}/key/rotate`, { graceDays: 1 })
    const { query } = pages.service.storage.db
    const moveRotation = async (byMs: number): Promise<void> => {
      await query
        .updateTable('keys')
        .set(({ eb }) => ({ rotatedAt: eb('rotatedAt', '-', byMs) }))
        .where('appId', '=', id)
        .execute()
    }
    // Calls in the minute of the rotation count for the old key.
    await moveRotation(2 * minuteMs)
    await callNode(old.urls.testnet)
    await callNode(old.urls.testnet, 'eth_nothing')
    await callNode(rotated.urls.testnet)
    await page.goto(`${pages.url}/apps/${id}/settings/advanced`)
    const getSide = (title: string) => page.locator('.pair > div').filter({ hasText: title })
    await getSide('Old key').getByText('2 requests in 24 hours, 50% errors').waitFor()
    await getSide('New key').getByText('1 request in 24 hours, 0% errors').waitFor()
    await getSide('Old key')
      .getByText(/^Last used /)
      .waitFor()
    await page.getByText(/It was last used at /).waitFor()
    await page.getByRole('button', { name: 'Deactivate now' }).click()
    await page
      .getByRole('dialog')
      .getByText(/^It was last used at .* Programs that use it stop working at once/)
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await callNode(old.urls.testnet)).toMatchObject({ status: 200 })

    // As if it had been rotated 4 hours ago, and the old key had last been used 3 hours ago.
    await moveRotation(4 * hourMs)
    const key = await query.selectFrom('keys').select('id').where('appId', '=', id).executeTakeFirstOrThrow()
    await expect
      .poll(async () =>
        (await query.selectFrom('usageMinutes').select('total').where('keyId', '=', `${key.id}:old`).execute()).reduce(
          (sum, { total }) => sum + total,
          0,
        ),
      )
      .toBe(3)
    const at = Math.floor((Date.now() - 3 * hourMs) / minuteMs) * minuteMs
    const rows = await query.selectFrom('usageMinutes').selectAll().where('keyId', '=', `${key.id}:old`).execute()
    await query.deleteFrom('usageMinutes').where('keyId', '=', `${key.id}:old`).execute()
    for (const [index, row] of rows.entries())
      await query
        .insertInto('usageMinutes')
        .values({ ...row, at: at - index * minuteMs })
        .execute()
    await page.reload()
    await page.getByText('It was unused for 2 hours. You can deactivate it now').waitFor()
    await page.getByRole('button', { name: 'Deactivate now' }).click()
    await page.getByText('Old key deactivated').waitFor()
    expect(await callNode(old.urls.testnet)).toMatchObject({ status: 401 })
    expect(await callNode(rotated.urls.testnet)).toMatchObject({ status: 200 })
    await page.getByText(/^…\w{4}, created .*\. Last used /).waitFor()
    expect(await page.getByText('The old key works until').count()).toBe(0)
  })

  test('the allow list shows when each entry was last used', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const call = <T>(method: string, path: string, body?: unknown): Promise<T> =>
      callApi<T>(ada, pages.url, [method, `/api/apps/${id}/${path}`], body)
    for (const value of ['eth_*', 'net_version']) await call('POST', 'allow-list', { type: 'method', value })
    const { urls } = await call<{ urls: { testnet: string } }>('POST', 'key/reveal', {})
    await callNode(urls.testnet)
    const readUses = async () => {
      const { items } = await call<{ items: { lastUsedAt: string | null }[] }>('GET', 'allow-list')
      return items.filter(({ lastUsedAt }) => lastUsedAt !== null).length
    }
    await expect.poll(readUses).toBe(1)
    await page.goto(`${pages.url}/apps/${id}/settings/allow-list`)
    await page.getByRole('row', { name: /Method eth_\* .*Last used \d+ minutes? ago/ }).waitFor()
    await page.getByRole('row', { name: /Method net_version .*Never used/ }).waitFor()
    expect(ada.problems).toEqual([])
  })
})
