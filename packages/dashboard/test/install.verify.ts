import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describePages } from './describePages.ts'
import { addApp } from './testUser.ts'

const published = new Set(['/@keyrail%2fcore', '/@keyrail%2fweb3'])
const registry = createServer(({ url = '' }, response) => response.writeHead(published.has(url) ? 200 : 404).end('{}'))
let npm = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  npm = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`
})
afterAll(() => registry.close())

describePages('how to install the libraries of an example', {}, (getFixtures) => {
  test('names a registry only for packages that it has, otherwise the repository', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const path = `${pages.url}/apps/${await addApp(ada, pages.url, 'Portfolio')}/setup`
    const useKeyrail = async (library: string): Promise<void> => {
      await page.getByLabel('Library').selectOption(library)
      await page.getByText(`with @keyrail/${library}`, { exact: true }).click()
    }
    await page.goto(path)
    await page.getByText('npm install viem@2', { exact: true }).waitFor()
    await page.getByLabel('Language').selectOption('JavaScript')
    await page.getByText('npm install ethers@6', { exact: true }).waitFor()
    await useKeyrail('web3')
    await page.getByText('npm run pack -- ~/my-project web3', { exact: true }).waitFor()
    await page.getByText('npm install ./*.tgz web3@4', { exact: true }).waitFor()
    expect(await page.getByText('npm install @keyrail').count()).toBe(0)

    await pages.reload({ registries: { npm } })
    await page.goto(path)
    await useKeyrail('web3')
    await page.getByText('npm install @keyrail/core @keyrail/web3 web3@4', { exact: true }).waitFor()
    await page.getByLabel('Library').selectOption('ethers')
    await page.getByText('npm install ./*.tgz ethers@6', { exact: true }).waitFor()
    expect(ada.problems).toEqual([])
  })
})
